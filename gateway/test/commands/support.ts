import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startSimulator } from 'simulator';
import { onTestFinished } from 'vitest';
import { run } from '#commands/index.ts';
import { startGatewayProcess } from '../support/gateway-process.ts';

export interface Outcome {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** A working directory of its own with a `sluice.yaml` in it, and a way to run commands there. */
export function createWorkplace(file: string | null, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-commands-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return workplaceIn(folder, file, environment);
}

/** The same in a folder that exists. */
export function workplaceIn(
  folder: string,
  file: string | null,
  environment: Record<string, string> = {},
) {
  const write = (text: string) => writeFileSync(join(folder, 'sluice.yaml'), text);
  if (file !== null) write(file);
  const sluice = async (...argv: string[]): Promise<Outcome> => {
    let out = '';
    let err = '';
    const code = await run(argv, {
      stdout: (text) => (out += text),
      stderr: (text) => (err += text),
      environment,
      workingDirectory: folder,
    });
    return { code, out, err };
  };
  const json = async (...argv: string[]): Promise<unknown> => {
    const { code, out, err } = await sluice(...argv, '--json');
    if (code !== 0) throw new Error(`exit code ${code}: ${err}${out}`);
    return JSON.parse(out);
  };
  return { folder, write, sluice, json };
}

/**
 * A workplace, and a gateway in a process of its own that runs from it, in front of a simulator.
 * @param fileOf the configuration, given the simulator's address
 */
export async function openRunningWorkplace(fileOf: (simulator: string) => string) {
  const simulator = await startSimulator();
  const workplace = createWorkplace(fileOf(simulator.url));
  const gateway = startGatewayProcess({ folder: workplace.folder });
  onTestFinished(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await simulator.close();
  });
  const url = await gateway.url;
  return { ...workplace, simulator, gateway, url };
}
