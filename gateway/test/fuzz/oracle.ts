import { setFlagsFromString, getHeapStatistics } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { FuzzTarget } from './target.ts';

const kibibyte = 1024;
const mebibyte = 1024 * kibibyte;

/** Bodies above it are worked on outside of the event loop, where they have more time. */
const handedOver = 256 * kibibyte;

/** CPU time of the thread that an input of this many bytes may take, in milliseconds. */
export function cpuBound(bytes: number, isOperators = false): number {
  // The YAML parser takes some microseconds for each character that is wrong where it stands.
  if (isOperators) return 1000 + (20 * bytes) / kibibyte;
  return bytes <= handedOver ? 250 : 1000 + (100 * bytes) / mebibyte;
}

/** How much memory an input of this many bytes may take, in bytes. */
export function memoryBound(bytes: number, isOperators = false): number {
  // The YAML parser keeps every token and every mistake: about 120 times the file.
  return (isOperators ? 256 : 10) * bytes + 8 * mebibyte;
}

export interface Finding {
  readonly kind: 'error' | 'time' | 'memory';
  readonly message: string;
}

export interface Trial {
  /** Null when nothing is wrong. */
  readonly finding: Finding | null;
  /** CPU time of the thread, in milliseconds. */
  readonly cpu: number;
  /** How much the heap has grown, in bytes, garbage included: more than was ever in use at once. */
  readonly allocated: number;
}

/**
 * Gives the target an input and judges what it threw and how long its thread worked. A time above the bound is
 * measured twice more after a collection of garbage, and the least counts: a compiler or a collector at work is not
 * the input's fault. Memory is only measured; whether it was in use at once shows under a limit of the heap.
 */
export async function attempt(target: FuzzTarget, input: Buffer): Promise<Trial> {
  let first = await measure(target, input);
  if (first.finding !== null) return first;
  if (first.allocated < 0) {
    // Other garbage was collected meanwhile, so the growth is unknown.
    collectGarbage();
    first = await measure(target, input);
  }
  const bound = cpuBound(input.length, target.isOperators);
  let { cpu } = first;
  for (let again = 0; again < 2 && cpu > bound; again += 1) {
    collectGarbage();
    cpu = Math.min(cpu, (await measure(target, input)).cpu);
  }
  const finding: Finding | null =
    cpu > bound
      ? { kind: 'time', message: `${Math.round(cpu)} ms of CPU, allowed are ${Math.round(bound)}` }
      : null;
  return { finding, cpu, allocated: first.allocated };
}

async function measure(target: FuzzTarget, input: Buffer): Promise<Trial> {
  // A target may change its bytes in place.
  const own = Buffer.from(input);
  let finding: Finding | null = null;
  const heap = heapInUse();
  const start = process.threadCpuUsage();
  try {
    await target.run(own);
  } catch (error) {
    if (!target.isRefusal(error)) finding = { kind: 'error', message: describe(error) };
  }
  const { user, system } = process.threadCpuUsage(start);
  return { finding, cpu: (user + system) / 1000, allocated: heapInUse() - heap };
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function heapInUse(): number {
  const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
  return heap + external;
}

let collect: (() => void) | null = null;

/** A full collection, without a flag on the command line. */
export function collectGarbage(): void {
  if (collect === null) {
    setFlagsFromString('--expose-gc');
    collect = runInNewContext('gc') as () => void;
  }
  collect();
}
