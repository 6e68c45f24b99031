import { setTimeout as sleep } from 'node:timers/promises';
import { loadCommandConfig } from './command-config.ts';
import { type Command, type CommandIo, commonOptions, exitCode, printJson } from './command.ts';
import { readReloadOutcome, readRunning, type ReloadOutcome } from './runtime-files.ts';

const patience = 10_000;
const pause = 50;

export const reload: Command = {
  name: 'reload',
  description:
    'The file is checked first. Running requests keep the settings they started with; no connection drops.',
  options: commonOptions,
  positionals: [],
  async run(input, io) {
    const { ConfigError, formatProblem } = await import('#config/index.ts');
    let dataDir: string;
    try {
      dataDir = (await loadCommandConfig(input, io)).storage.dataDir;
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      const problems = error.problems.map(formatProblem);
      report({ ok: false, problems, restart: [] }, input.flag('json'), io);
      return exitCode.failed;
    }
    const running = readRunning(dataDir);
    if (running === null) throw new Error(`no gateway is running on ${dataDir}`);
    const askedAt = Date.now();
    process.kill(running.pid, 'SIGHUP');
    const outcome = await waitForOutcome(dataDir, askedAt);
    if (outcome === null) {
      throw new Error(`the gateway (process ${running.pid}) did not respond within 10 seconds`);
    }
    report(outcome, input.flag('json'), io);
    return outcome.ok ? exitCode.done : exitCode.failed;
  },
};

async function waitForOutcome(dataDir: string, askedAt: number): Promise<ReloadOutcome | null> {
  while (Date.now() - askedAt < patience) {
    const outcome = readReloadOutcome(dataDir);
    if (outcome !== null && outcome.at >= askedAt) return outcome;
    await sleep(pause);
  }
  return null;
}

function report(
  { ok, problems, restart = [] }: Omit<ReloadOutcome, 'at'>,
  asJson: boolean,
  io: CommandIo,
): void {
  if (asJson) printJson(io, { ok, problems, restart });
  else if (ok) io.stdout(`reloaded\n${restart.length === 0 ? '' : restartNote(restart)}`);
  else for (const problem of problems) io.stderr(`${problem}\n`);
}

function restartNote(settings: readonly string[]): string {
  return `these settings changed and need a restart: ${settings.join(', ')}\n`;
}
