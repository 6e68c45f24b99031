import { GatewayError } from '#errors/index.ts';
import { BodyClaim, type ClaimKeeper, type KeyUse } from './body-claim.ts';
import { createBodyQueue } from './body-queue.ts';
import { createBodyRoom } from './body-room.ts';

/**
 * The memory for bodies of requests in flight: received, decoded, parsed. One key may use the whole shared part while
 * no other key waits. A body larger than the shared part is admitted when nobody else holds any of it.
 */
export interface BodyMemory {
  /** Bytes. */
  readonly limit: number;
  /** Bytes held. Exceeds the limit only while a larger body is alone. */
  readonly used: number;
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
  let refused = 0;

  const refuse = (): GatewayError => {
    refused += 1;
    return new GatewayError('overloaded', { retryAfter: 1 });
  };
  const queue = createBodyQueue({ room, keys, refuse, monotonic });
  /** Whether no shared room is needed: it is less than before, or within the reserve. */
  const takeEasily = (claim: BodyClaim, total: number): boolean => {
    if (claim.isReleased) return true;
    if (total > claim.held) return room.takeReserved(claim, total);
    room.give(claim, total);
    queue.serve();
    return true;
  };
  const keeper: ClaimKeeper = {
    tryHold(claim, total) {
      if (takeEasily(claim, total)) return true;
      // A body that is half read or about to be parsed goes before those who wait: only its end releases what it holds.
      return (claim.held > 0 || queue.size === 0) && room.takeShared(claim, total);
    },
    tryHoldResponse: (claim, total) => takeEasily(claim, total) || queue.takeFor(claim, total),
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
