import childProcess, { type ChildProcess } from 'node:child_process';
import { subscribe } from 'node:diagnostics_channel';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import type { Worker } from 'node:worker_threads';
import { vi } from 'vitest';

/** What one file of tests has used. */
export interface Footprint {
  /** Of this process with its threads, and of child processes that have ended. Loading the file is not part of it. */
  readonly cpuSeconds: number;
  /** Child processes that it has started. */
  readonly processes: number;
}

declare module 'vitest' {
  interface TaskMeta {
    footprint?: Footprint;
  }
}

// Node opens them at their first use, which belongs to no file.
void [process.stdin, process.stdout, process.stderr];

const running = new Set<ChildProcess | Worker>();
let processes = 0;

// Files of one project share a process, and this module with it: it counts once.
subscribe('child_process', (message) => {
  const { process: child } = message as { readonly process: ChildProcess };
  processes += 1;
  running.add(child);
  child.once('exit', () => running.delete(child)).once('error', () => running.delete(child));
});
subscribe('worker_threads', (message) => {
  const { worker } = message as { readonly worker: Worker };
  running.add(worker);
  worker.once('exit', () => running.delete(worker));
});
// Node announces only those that it does not wait for.
for (const name of ['spawnSync', 'execFileSync', 'execSync'] as const) {
  const original = childProcess[name] as (...parameters: unknown[]) => unknown;
  const counted = (...parameters: unknown[]): unknown => {
    processes += 1;
    return original(...parameters);
  };
  Object.assign(childProcess, { [name]: counted });
}
syncBuiltinESMExports();

/** Since the process began. */
export function footprint(): Footprint {
  const { user, system } = process.cpuUsage();
  return { cpuSeconds: (user + system) / 1e6 + cpuOfChildren(), processes };
}

function cpuOfChildren(): number {
  if (process.platform !== 'linux') return 0;
  const stat = readFileSync('/proc/self/stat', 'utf8');
  // Behind the name, which may contain anything: `cutime` and `cstime`, in hundredths of a second.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[13]) + Number(fields[14])) / 100;
}

/** What the next file of tests in this process would find changed. */
export type Surroundings = ReadonlyMap<string, unknown>;

/** Everything that keeps the process alive, listens to it, or is read by everybody. */
export function surroundings(): Surroundings {
  const found = new Map<string, unknown>();
  for (const type of process.getActiveResourcesInfo()) {
    const name = `open ${type}`;
    found.set(name, Number(found.get(name) ?? 0) + 1);
  }
  for (const each of running) {
    const what = 'spawnfile' in each ? `process ${each.spawnfile}` : 'thread';
    found.set(what, Number(found.get(what) ?? 0) + 1);
  }
  for (const event of process.eventNames()) {
    found.set(`listeners of ${String(event)}`, process.listenerCount(event));
  }
  for (const [name, value] of Object.entries(process.env)) found.set(`process.env.${name}`, value);
  if (vi.isFakeTimers()) found.set('a false clock', 1);
  for (const [place, object] of Object.entries({ globalThis, console, process, Math, Date })) {
    for (const [name, { value }] of Object.entries(Object.getOwnPropertyDescriptors(object))) {
      if (typeof value === 'function') found.set(`${place}.${name}`, value);
    }
  }
  return found;
}

/** What was started in this file for all files, by its name in the surroundings. */
const kept = new Map<string, number>();

/** Before a file is loaded. */
export function surroundingsOfFile(): Surroundings {
  kept.clear();
  return surroundings();
}

/** Starts something that all files of this process share, so that no file is said to leave it behind. */
export async function keptByProcess<Kept>(start: () => Promise<Kept>): Promise<Kept> {
  const before = surroundings();
  const started = await start();
  for (const [name, value] of surroundings()) {
    const more = Number(value) - Number(before.get(name) ?? 0);
    if (more > 0) kept.set(name, (kept.get(name) ?? 0) + more);
  }
  return started;
}

/** @returns a line for each difference that stays; what was there before may be gone */
export function leftBehind(before: Surroundings, after: Surroundings): string[] {
  const left: string[] = [];
  for (const [name, value] of after) {
    const earlier = before.get(name);
    if (value === earlier) continue;
    const most = Number(earlier ?? 0) + (kept.get(name) ?? 0);
    if (typeof value !== 'number') left.push(`${name} was changed`);
    else if (value > most) left.push(`${name}: ${value - most}`);
  }
  for (const name of before.keys()) {
    if (name.startsWith('process.env.') && !after.has(name)) left.push(`${name} was removed`);
  }
  return left;
}
