import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type CommandIo, exitCode } from './command.ts';

/** Runs the simulator as a child process on this terminal; it parses its own options. */
export async function simulate(args: string[], io: CommandIo): Promise<number> {
  const main = fileURLToPath(new URL('../../../../simulator/src/main.ts', import.meta.url));
  const child = spawn(process.execPath, [main, ...args], {
    stdio: 'inherit',
    ...(io.workingDirectory === undefined ? {} : { cwd: io.workingDirectory }),
  });
  const forward = (signal: NodeJS.Signals) => child.kill(signal);
  process.on('SIGINT', forward).on('SIGTERM', forward);
  try {
    const [code] = (await once(child, 'exit')) as [number | null];
    return code ?? exitCode.failed;
  } finally {
    process.off('SIGINT', forward).off('SIGTERM', forward);
  }
}
