import { totalmem } from 'node:os';

/**
 * Bytes that the processes of this gateway may use together: the limit of their cgroup (v1 or v2), otherwise the
 * machine's memory.
 */
export function memoryLimit(): number {
  const machine = totalmem();
  // 0 if unknown; more than the machine has if unlimited.
  const constrained = process.constrainedMemory();
  return constrained > 0 ? Math.min(constrained, machine) : machine;
}

/** Default bytes for bodies in each of `workers` processes. */
export function defaultBodyMemory(workers: number): number {
  return Math.floor(memoryLimit() / 4 / workers);
}

const mebibyte = 2 ** 20;
/** Bytes that a process needs to serve: up to 300 MiB idle, and some more for bodies, responses and threads. */
const leastMemory = 512 * mebibyte;

/** A sentence for the operator if this many processes have too little memory; null: they have enough. */
export function memoryShortage(workers: number): string | null {
  const each = memoryLimit() / workers;
  if (each >= leastMemory) return null;
  const found = `${Math.floor(each / mebibyte)} MiB of memory`;
  return `each process has ${found}, and needs 512 MiB: it will refuse requests under little load`;
}
