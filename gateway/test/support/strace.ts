import { spawn, spawnSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

const sleeper = spawn('sleep', ['0.1'], { stdio: 'ignore' });
const trial = spawnSync('strace', ['-o', '/dev/null', '-p', String(sleeper.pid)], {
  encoding: 'utf8',
});
if (trial.error !== undefined && process.env['CI'] !== undefined) {
  throw new Error('no strace, which this run requires');
}

/** Why the system calls of a process cannot be made to fail on this machine; null where they can. */
export const cannotTrace: string | null =
  trial.status === 0 ? null : (trial.error?.message ?? trial.stderr.trim().split('\n')[0]!);

export interface SyncFaultOptions {
  readonly pid: number;
  /** The beginning of its threads' names, of which the system shows fifteen characters; other threads are not delayed. */
  readonly threads: string;
  /** The files whose syncs fail, with their absolute paths. */
  readonly files: readonly string[];
  /** Which syncs of a thread fail, as in strace: `1..2`. Default: all. */
  readonly when?: string;
}

/**
 * From the moment in which it resolves, no sync of these files succeeds: the disk has an I/O error.
 * @returns ends it
 */
export async function failSyncs({
  pid,
  threads,
  files,
  when = '1+',
}: SyncFaultOptions): Promise<() => Promise<void>> {
  const calls = 'fsync,fdatasync';
  const folder = `/proc/${pid}/task`;
  const traced = readdirSync(folder).filter((id) =>
    readFileSync(`${folder}/${id}/comm`, 'utf8').startsWith(threads),
  );
  const child = spawn(
    'strace',
    [
      '--output=/dev/null',
      `--trace=${calls}`,
      `--inject=${calls}:error=EIO:when=${when}`,
      ...traced.flatMap((id) => ['-p', id]),
      ...files.flatMap((file) => ['-P', file]),
    ],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
      if ((said.match(/ attached/g)?.length ?? 0) === traced.length) resolve();
    });
    void ended.then(() => reject(new Error(said)));
  });
  return async () => {
    child.kill('SIGTERM');
    await ended;
  };
}
