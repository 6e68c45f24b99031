import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A cgroup that a process can be started in, and that the kernel keeps to a limit: what is more is killed. */
export interface MemoryGroup {
  /** A program and its first arguments that start another one inside. */
  readonly within: readonly string[];
  /** Processes that the kernel killed for want of memory. */
  kills(): number;
  /** Once nothing runs in it. */
  remove(): void;
}

const versions = [
  {
    root: '/sys/fs/cgroup/memory',
    limit: 'memory.limit_in_bytes',
    events: 'memory.oom_control',
  },
  { root: '/sys/fs/cgroup', limit: 'memory.max', events: 'memory.events' },
];

/** Null where none can be made: it takes root, and a controller that may be used. */
export function createMemoryGroup(name: string, bytes: number): MemoryGroup | null {
  for (const { root, limit, events } of versions) {
    const folder = join(root, name);
    try {
      mkdirSync(folder);
    } catch {
      continue;
    }
    try {
      writeFileSync(join(folder, limit), String(bytes));
    } catch {
      rmdirSync(folder);
      continue;
    }
    return {
      within: ['/bin/sh', '-c', `echo $$ > ${folder}/cgroup.procs && exec "$0" "$@"`],
      kills: () =>
        Number(/oom_kill (\d+)/.exec(readFileSync(join(folder, events), 'utf8'))?.[1] ?? 0),
      remove: () => rmdirSync(folder),
    };
  }
  return null;
}
