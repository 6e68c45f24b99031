import { GatewayError } from '#errors/index.ts';
import { BodyClaim, type ClaimKeeper } from './body-claim.ts';
import { createBodyQueue } from './body-queue.ts';
import { createBodyRoom } from './body-room.ts';
import type { KeyUse } from './key-use.ts';

/**
 * The memory for bodies of requests under way: received, decoded, parsed. A key may have all that is shared while no
 * other key waits. A body that needs more than that is let in when nobody else holds any of it.
 */
export interface BodyMemory {
  /** Bytes. */
  readonly limit: number;
  /** Bytes held; more than the limit only while a body that needs more is alone. */
  readonly used: number;
  /** Requests that wait for room. */
  readonly waiting: number;
  /** Requests refused for want of room since the start. */
  readonly refused: number;
  /** For one request of a key. It holds nothing yet; `release` it whatever becomes of the request. */
  open(keyId: string): BodyClaim;
}

export interface BodyMemoryOptions {
  /** Bytes. */
  readonly limit: number;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

/** In the memory of this process: each worker has a budget of its own. */
export function createBodyMemory({ limit, monotonic }: BodyMemoryOptions): BodyMemory {
  const room = createBodyRoom(limit);
  const keys = new Map<string, KeyUse>();
  let refused = 0;

  const refuse = (): GatewayError => {
    refused += 1;
    return new GatewayError('overloaded', { retryAfter: 1 });
  };
  const queue = createBodyQueue({ room, keys, refuse, monotonic });
  const keeper: ClaimKeeper = {
    tryHold(claim, total) {
      if (claim.isReleased) return true;
      if (total <= claim.held) {
        room.give(claim, total);
        queue.serve();
        return true;
      }
      if (room.takeReserved(claim, total)) return true;
      // What is half read or about to be parsed goes before those who wait: only its end gives back what it holds.
      return (claim.held > 0 || queue.size === 0) && room.takeShared(claim, total);
    },
    wait: queue.add,
    refuse,
    release(claim) {
      queue.remove(claim);
      room.give(claim, 0);
      const { key } = claim;
      key.claims.delete(claim);
      if (key.claims.size === 0) keys.delete(key.id);
      queue.serve();
    },
    now: monotonic,
  };

  return {
    limit,
    get used() {
      return room.used;
    },
    get waiting() {
      return queue.size;
    },
    get refused() {
      return refused;
    },
    open(keyId) {
      let key = keys.get(keyId);
      if (key === undefined) {
        key = { id: keyId, claims: new Set(), reserved: 0, shared: 0, only: null };
        keys.set(keyId, key);
      }
      const claim = new BodyClaim(keeper, key);
      key.claims.add(claim);
      return claim;
    },
  };
}
