import { randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { TaskFile } from './task-file.ts';
import { stateAt, type State, type Task, type Vendor } from './task.ts';

/** What a vendor keeps. */
export interface Tasks {
  readonly clock: Clock;
  add(task: Omit<Task, 'id' | 'submittedAt' | 'cancelledAt' | 'looks'>): Task;
  /** Tasks belong to the credential that submitted them. */
  find(vendor: Vendor, id: string, credential: string): Task | undefined;
  of(vendor: Vendor, credential: string): readonly Task[];
  remove(task: Task): void;
  /** False if the credential has asked more often in the last second than it may. */
  mayLook(credential: string, mostPerSecond: number): boolean;
  list(): readonly ListedTask[];
  clear(): void;
}

/** For tests. */
export interface ListedTask extends Task {
  readonly state: State;
}

const mostKept = 20_000;

/** @param file keeps them for other processes; absent: they end with this one. Cancellations are not kept. */
export function createTasks(clock: Clock, file?: TaskFile): Tasks {
  const kept = new Map<string, Task>();
  const removed = new Set<string>();
  const learn = (): void => {
    for (const task of file?.read() ?? []) {
      if (!kept.has(task.id) && !removed.has(task.id)) kept.set(task.id, task);
    }
  };
  learn();
  const looks = new Map<string, number[]>();
  return {
    clock,
    add(given) {
      const now = clock.now();
      const id = given.vendor === 'dashscope' ? randomUUID() : arkId(now);
      const task: Task = { ...given, id, submittedAt: now, cancelledAt: null, looks: 0 };
      kept.set(id, task);
      file?.add(task);
      if (kept.size > mostKept) kept.delete(kept.keys().next().value ?? '');
      return task;
    },
    find(vendor, id, credential) {
      if (!kept.has(id)) learn();
      const task = kept.get(id);
      return task?.vendor === vendor && task.credential === credential ? task : undefined;
    },
    of(vendor, credential) {
      learn();
      return [...kept.values()].filter(
        (task) => task.vendor === vendor && task.credential === credential,
      );
    },
    remove(task) {
      removed.add(task.id);
      kept.delete(task.id);
    },
    mayLook(credential, mostPerSecond) {
      const now = clock.now();
      const recent = (looks.get(credential) ?? []).filter((time) => now - time < 1_000);
      const isAllowed = recent.length < mostPerSecond;
      if (isAllowed) recent.push(now);
      looks.set(credential, recent);
      return isAllowed;
    },
    list: () => [...kept.values()].map((task) => ({ ...task, state: stateAt(task, clock.now()) })),
    clear() {
      kept.clear();
      looks.clear();
    },
  };
}

/** `cgt-20251120105012-x7k2p` */
function arkId(now: number): string {
  const stamp = new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14);
  return `cgt-${stamp}-${randomUUID().slice(-5)}`;
}
