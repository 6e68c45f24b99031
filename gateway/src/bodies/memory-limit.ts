import { totalmem } from 'node:os';

/** Bytes that the processes of this gateway may use together: the limit of their cgroup (v1 or v2), else the machine's memory. */
export function memoryLimit(): number {
  const machine = totalmem();
  // 0 where it is not known; more than there is where nothing is limited.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, machine) : machine;
}

/** Bytes for the bodies in one of so many processes, where nobody says how many. */
export function defaultBodyMemory(workers: number): number {
  return Math.floor(memoryLimit() / 4 / workers);
}
