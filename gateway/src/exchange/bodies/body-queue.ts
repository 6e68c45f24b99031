import type { GatewayError } from '#errors/index.ts';
import type { BodyClaim, BodyRoom, KeyUse, RoomListener } from './body-claim.ts';

/** Milliseconds. After a longer wait the client is better off retrying. */
const longestWait = 5_000;
/**
 * How long a body may take to arrive while another key waits for its room, in milliseconds. Shorter than that key
 * waits.
 */
const patience = 4_000;
/** Interval between checks of the waiting requests, in milliseconds. */
const lookMs = 250;

/** Requests whose bodies wait for memory. */
export interface BodyQueue {
  /** Those that are removed from it are not called any more. */
  readonly waiting: Map<BodyClaim, Waiter>;
  /** Queues a claim; the listener may be called at once. */
  add(claim: BodyClaim, total: number, listener: RoomListener): void;
  /** Call it whenever memory was released. */
  serve(): void;
  /**
   * Makes a claim hold `total` bytes of the shared part for a response. If there is too little, bodies that are still
   * being read end at once: those of its own key, and of keys that hold more than their part. Nothing ends in vain.
   */
  takeFor(claim: BodyClaim, total: number): boolean;
}

export interface BodyQueueOptions {
  readonly room: BodyRoom;
  /** All keys with a body in flight. */
  readonly keys: ReadonlyMap<string, KeyUse>;
  readonly refuse: () => GatewayError;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

export interface Waiter {
  readonly claim: BodyClaim;
  /** The total bytes it is to hold. */
  readonly total: number;
  readonly listener: RoomListener;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Serves the keys that hold least; within a key, the first body first. A waiting claim holds nothing. */
export function createBodyQueue({ room, keys, refuse, monotonic }: BodyQueueOptions): BodyQueue {
  const waiting = new Map<BodyClaim, Waiter>();
  let timer: NodeJS.Timeout | null = null;
  /** What is released now is for a response, not for those who wait. */
  let isMakingWay = false;

  const inTurn = (): Waiter[] => {
    const rank = ({ claim }: Waiter) => claim.key.sharedBytes;
    return [...waiting.values()].toSorted((one, other) => rank(one) - rank(other));
  };

  const serve = (): void => {
    if (waiting.size === 0 || isMakingWay) return;
    let isOpen = true;
    for (const { claim, total, listener } of inTurn()) {
      if (!waiting.has(claim) || room.isBlocked(claim, total)) continue;
      if (room.takeReserved(claim, total) || (isOpen && room.takeShared(claim, total))) {
        waiting.delete(claim);
        listener(null);
        // The first in the queue needs more shared room, so no other request takes any.
      } else isOpen = false;
    }
  };

  const look = (): void => {
    const now = monotonic();
    for (const { claim, listener, until } of waiting.values()) {
      if (now < until) continue;
      waiting.delete(claim);
      listener(refuse());
    }
    makeWay(now);
    if (waiting.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  /** Ends slow bodies of keys that hold more than their part while others wait. */
  const makeWay = (now: number): void => {
    const first = inTurn()[0];
    if (first === undefined) return;
    const holders = [...keys.values()].filter(({ sharedBytes }) => sharedBytes > 0);
    const others = holders.filter((key) => key !== first.claim.key);
    for (const claim of readingBeyond(room.sharedLimit / (others.length + 1), others)) {
      if (!waiting.has(first.claim)) return;
      if (now - claim.readingSince >= patience) claim.giveWay?.(refuse());
    }
  };

  const takeFor = (claim: BodyClaim, total: number): boolean => {
    if (room.takeShared(claim, total)) return true;
    if (room.isBlocked(claim, total)) return false;
    const others = [...keys.values()].filter((key) => key.sharedBytes > 0 && key !== claim.key);
    const readers = [
      ...readingBeyond(room.sharedLimit / (others.length + 1), others),
      ...readingBeyond(0, [claim.key]).filter((own) => own !== claim),
    ];
    const yieldedBytes = readers.reduce((sum, { heldBytes }) => sum + heldBytes, 0);
    if (yieldedBytes < room.lacking(claim, total)) return false;
    isMakingWay = true;
    for (const reader of readers) {
      if (room.lacking(claim, total) <= 0) break;
      reader.giveWay?.(refuse());
    }
    isMakingWay = false;
    const isTaken = room.takeShared(claim, total);
    serve();
    return isTaken;
  };

  return {
    waiting,
    add(claim, total, listener) {
      waiting.set(claim, { claim, total, listener, until: monotonic() + longestWait });
      timer ??= setInterval(look, lookMs).unref();
      // The claims before it may wait for something other than room.
      serve();
    },
    serve,
    takeFor,
  };
}

/** Claims of shared room for what is still being read, of keys that hold more than this part; most first. */
function readingBeyond(part: number, keys: readonly KeyUse[]): BodyClaim[] {
  return keys
    .filter(({ sharedBytes }) => sharedBytes > part)
    .toSorted((one, other) => other.sharedBytes - one.sharedBytes)
    .flatMap(({ claims }) => [...claims])
    .filter(({ isShared, giveWay }) => isShared && giveWay !== null);
}
