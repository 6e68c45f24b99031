import { spawn, type ChildProcess } from 'node:child_process';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Logger } from '#observability/index.ts';

/** The demo's upstream: the simulator package as a child process on a free loopback port. */
export interface SimulatorProcess {
  /** Null until it responds, and during a restart. */
  url(): string | null;
  close(): Promise<void>;
}

/** The part of the process that is used. */
export interface SimulatorChild extends Pick<
  ChildProcess,
  'exitCode' | 'signalCode' | 'kill' | 'once'
> {
  readonly stdout: Readable;
}

const entry = fileURLToPath(new URL('../../../../simulator/src/main.ts', import.meta.url));
const readyLine = /listening on (http:\/\/\S+)/;
export const startTimeoutMs = 10_000;
export const restartDelayMs = 1_000;

/**
 * It ends with its standard input, so it never outlives a killed gateway. It keeps no requests, because every user of
 * the machine can reach its port. Its video tasks outlive it, as a vendor's do.
 */
const spawnSimulator = (dataDir: string) => (): SimulatorChild => {
  const tasks = path.join(dataDir, 'simulator-tasks.jsonl');
  return spawn(process.execPath, [entry, '--exit-with-parent', '--no-log', '--tasks', tasks], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
};

/**
 * Starts the simulator and waits until it responds. If it dies it is restarted on another port; `onChange` receives
 * every new address.
 * @param dataDir where it keeps what outlives it
 * @param spawnChild for tests
 * @throws Error if it does not start the first time.
 */
export async function startSimulatorProcess(
  logger: Logger,
  dataDir: string,
  onChange: () => void,
  spawnChild: () => SimulatorChild = spawnSimulator(dataDir),
): Promise<SimulatorProcess> {
  /** The process that was started last. */
  let child: SimulatorChild | null = null;
  let serving: { readonly child: SimulatorChild; readonly url: string } | null = null;
  let isClosed = false;
  let timer: NodeJS.Timeout | null = null;

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const startedChild = spawnChild();
      child = startedChild;
      let isStarting = true;
      const fail = (error: Error) => {
        isStarting = false;
        clearTimeout(timeout);
        reject(error);
      };
      const timeout = setTimeout(() => {
        fail(new Error('the simulator did not start in time'));
        // Another process is started in its place. This one may hang too badly to end on request.
        startedChild.kill('SIGKILL');
      }, startTimeoutMs);
      createInterface({ input: startedChild.stdout }).on('line', (line) => {
        const url = readyLine.exec(line)?.[1];
        if (url === undefined || !isStarting) return;
        isStarting = false;
        clearTimeout(timeout);
        serving = { child: startedChild, url };
        resolve();
      });
      startedChild.once('error', fail);
      startedChild.once('exit', () => {
        fail(new Error('the simulator exited'));
        // A process that was given up may exit when another is already serving.
        if (serving?.child !== startedChild) return;
        serving = null;
        if (!isClosed) restart();
      });
    });

  const restart = () => {
    timer ??= setTimeout(() => {
      timer = null;
      launch().then(onChange, (error: unknown) => {
        if (isClosed) return;
        logger.error('the simulator could not be restarted', error);
        restart();
      });
    }, restartDelayMs);
  };

  try {
    await launch();
  } catch (error) {
    isClosed = true;
    throw error;
  }
  return {
    url: () => serving?.url ?? null,
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      const running = child;
      // A process that a signal ended has no exit code.
      if (running === null || running.exitCode !== null || running.signalCode !== null) {
        return Promise.resolve();
      }
      return new Promise((resolve) => {
        running.once('exit', () => resolve());
        running.kill('SIGTERM');
      });
    },
  };
}
