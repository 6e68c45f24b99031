import { spawn, type ChildProcess } from 'node:child_process';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

const program = fileURLToPath(new URL('../../src/main.js', import.meta.url));

/** The gateway as operators run it: `node gateway/src/main.js start`, in a folder and an environment of its own. */
export interface GatewayProcess {
  readonly child: ChildProcess;
  /** Standard output so far. */
  stdout(): string;
  stderr(): string;
  /** Where it listens; rejects when it ends before it says so. */
  readonly url: Promise<string>;
  /** The exit code; null after a signal. */
  readonly exit: Promise<number | null>;
}

export interface GatewayProcessOptions {
  /** The working directory. */
  readonly folder: string;
  readonly parameters?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A program and its first arguments, which starts the gateway in its own place: `unshare`, say. */
  readonly within?: readonly string[];
  /** Default: this checkout's. */
  readonly program?: string;
}

export function startGatewayProcess(options: GatewayProcessOptions): GatewayProcess {
  const own = [
    process.execPath,
    options.program ?? program,
    'start',
    ...(options.parameters ?? []),
  ];
  const [command = '', ...parameters] = [...(options.within ?? []), ...own];
  const child = spawn(command, parameters, {
    cwd: options.folder,
    // Nothing of the person who runs the tests, above all no provider keys.
    env: { PATH: dirname(process.execPath), HOME: options.folder, ...options.environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const exit = new Promise<number | null>((resolve) => child.once('close', resolve));
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const match = /listening on (\S+)\n/.exec(stdout);
      if (match?.[1] !== undefined) resolve(match[1]);
    });
    void exit.then(() => reject(new Error(`the gateway ended:\n${stdout}${stderr}`)));
  });
  url.catch(() => {});
  return { child, stdout: () => stdout, stderr: () => stderr, url, exit };
}

/** What a start after a kill must not log: anything above information, but that the kill has cut off attempts. */
export function unexpectedLines(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => /"level":(40|50|60)/.test(line) && !line.includes('attempts-unfinished'));
}
