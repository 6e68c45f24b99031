import { totalmem } from 'node:os';
import { GatewayError } from '#errors/index.ts';
import { BodyClaim, type ClaimKeeper, createBodyRoom, type KeyUse } from './body-claim.ts';
import { createBodyQueue } from './body-queue.ts';

/**
 * The memory for bodies of requests in flight: received, decoded, parsed. One key may use the whole shared part while
 * no other key waits. A body larger than the shared part is admitted when no other body holds any of it.
 */
export interface BodyMemory {
  /** Bytes. */
  readonly limit: number;
  /** Bytes held. Exceeds the limit only while a larger body is alone. */
  readonly usedBytes: number;
  /** Requests waiting for room. */
  readonly waiting: number;
  /** Requests refused for lack of room since the start. */
  readonly refused: number;
  /**
   * Opens a claim for one request of a key. It holds nothing yet; always `release` it, whatever happens to the request.
   */
  open(keyId: string): BodyClaim;
}

export interface BodyMemoryOptions {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/** Counts in the memory of this process: each worker has a budget of its own. */
export function createBodyMemory({ limit, monotonic }: BodyMemoryOptions): BodyMemory {
  const room = createBodyRoom(limit);
  const keys = new Map<string, KeyUse>();
  let refusals = 0;

  const refuse = (): GatewayError => {
    refusals += 1;
    return new GatewayError('overloaded', { retryAfter: 1 });
  };
  const queue = createBodyQueue({ room, keys, refuse, monotonic });
  const keeper: ClaimKeeper = {
    tryHold(claim, total, isResponse = false) {
      if (claim.isReleased) return true;
      if (total <= claim.heldBytes) {
        room.give(claim, total);
        if (queue.waiting.size > 0) queue.serve();
        return true;
      }
      if (room.takeReserved(claim, total)) return true;
      if (isResponse) return queue.takeFor(claim, total);
      // A body that is half read or about to be parsed goes before those who wait: only its end releases what it holds.
      return (claim.heldBytes > 0 || queue.waiting.size === 0) && room.takeShared(claim, total);
    },
    wait: queue.add,
    refuse,
    release(claim) {
      queue.waiting.delete(claim);
      room.give(claim, 0);
      const { key } = claim;
      key.claims.delete(claim);
      if (key.claims.size === 0) keys.delete(key.id);
      if (queue.waiting.size > 0) queue.serve();
    },
    now: monotonic,
  };

  return {
    limit,
    get usedBytes() {
      return room.usedBytes;
    },
    get waiting() {
      return queue.waiting.size;
    },
    get refused() {
      return refusals;
    },
    open(keyId) {
      let key = keys.get(keyId);
      if (key === undefined) {
        key = { id: keyId, claims: new Set(), reservedBytes: 0, sharedBytes: 0, only: null };
        keys.set(keyId, key);
      }
      const claim = new BodyClaim(keeper, key);
      key.claims.add(claim);
      return claim;
    },
  };
}

/**
 * Bytes that the processes of this gateway may use together: the limit of their cgroup (v1 or v2), otherwise the
 * machine's memory.
 */
export function memoryLimit(): number {
  const machine = totalmem();
  // 0 if unknown; more than the machine has if unlimited.
  const constrainedMemory = process.constrainedMemory();
  return constrainedMemory > 0 ? Math.min(constrainedMemory, machine) : machine;
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
  const available = `${Math.floor(each / mebibyte)} MiB of memory`;
  return `each process has ${available}, and needs 512 MiB: it will refuse requests under little load`;
}
