import { spawn, type ChildProcess } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import type { Logger } from '#observability/index.ts';

/** The demo's upstream: the simulator package as a child process on a free loopback port. */
export interface SimulatorProcess {
  /** Null until it answers, and while it is restarted. */
  url(): string | null;
  close(): Promise<void>;
}

/** What is asked of the process. */
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
 * It ends with its standard input, so it never outlives a gateway that was killed. It keeps no requests: every user of the
 * machine can reach its port.
 */
const spawnSimulator = (): SimulatorChild =>
  spawn(process.execPath, [entry, '--exit-with-parent', '--no-log'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });

/**
 * Starts it and waits until it answers. A simulator that dies is started again; `onChange` is told of every new
 * address, because its port changes then. `spawnChild` is for tests.
 * @throws Error when it does not come up the first time.
 */
export async function startSimulatorProcess(
  logger: Logger,
  onChange: () => void,
  spawnChild: () => SimulatorChild = spawnSimulator,
): Promise<SimulatorProcess> {
  /** The latest that was started. */
  let child: SimulatorChild | null = null;
  let serving: { readonly child: SimulatorChild; readonly url: string } | null = null;
  let closed = false;
  let timer: NodeJS.Timeout | null = null;

  const launch = (): Promise<void> =>
    new Promise((resolve, reject) => {
      const started = spawnChild();
      child = started;
      let isStarting = true;
      const fail = (error: Error) => {
        isStarting = false;
        clearTimeout(timeout);
        reject(error);
      };
      const timeout = setTimeout(() => {
        fail(new Error('the simulator did not start in time'));
        // Another one is started in its place. It may hang too deep to be asked to end.
        started.kill('SIGKILL');
      }, startTimeoutMs);
      createInterface({ input: started.stdout }).on('line', (line) => {
        const url = readyLine.exec(line)?.[1];
        if (url === undefined || !isStarting) return;
        isStarting = false;
        clearTimeout(timeout);
        serving = { child: started, url };
        resolve();
      });
      started.once('error', fail);
      started.once('exit', () => {
        fail(new Error('the simulator exited'));
        // One that was given up ends when another may be serving already.
        if (serving?.child !== started) return;
        serving = null;
        if (!closed) restart();
      });
    });

  const restart = () => {
    timer ??= setTimeout(() => {
      timer = null;
      launch().then(onChange, (error: unknown) => {
        if (closed) return;
        logger.error('the simulator could not be restarted', error);
        restart();
      });
    }, restartDelayMs);
  };

  try {
    await launch();
  } catch (error) {
    closed = true;
    throw error;
  }
  return {
    url: () => serving?.url ?? null,
    close() {
      closed = true;
      if (timer !== null) clearTimeout(timer);
      const running = child;
      // One that a signal ended has no exit code.
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
