import type { GatewayError } from '#errors/index.ts';
import type { BodyClaim, KeyUse, RoomListener } from './body-claim.ts';
import type { BodyRoom } from './body-room.ts';

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
  readonly size: number;
  /** Queues a claim; the listener may be called at once. */
  add(claim: BodyClaim, total: number, listener: RoomListener): void;
  /** Removes a claim; its listener is not called any more. */
  remove(claim: BodyClaim): void;
  /** Call it whenever memory was released. */
  serve(): void;
}

export interface BodyQueueOptions {
  readonly room: BodyRoom;
  /** All keys with a body in flight. */
  readonly keys: ReadonlyMap<string, KeyUse>;
  readonly refuse: () => GatewayError;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

interface Waiter {
  readonly claim: BodyClaim;
  /** The total bytes it is to hold. */
  readonly total: number;
  readonly listener: RoomListener;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Serves the keys that hold least; within a key, the first body first. A waiting claim holds nothing. */
export function createBodyQueue({ room, keys, refuse, monotonic }: BodyQueueOptions): BodyQueue {
  const waiters = new Map<BodyClaim, Waiter>();
  let timer: NodeJS.Timeout | null = null;

  const inTurn = (): Waiter[] => {
    const rank = ({ claim }: Waiter) => claim.key.shared;
    return [...waiters.values()].toSorted((one, other) => rank(one) - rank(other));
  };

  const serve = (): void => {
    if (waiters.size === 0) return;
    let isOpen = true;
    for (const { claim, total, listener } of inTurn()) {
      if (!waiters.has(claim) || room.isBlocked(claim, total)) continue;
      if (room.takeReserved(claim, total) || (isOpen && room.takeShared(claim, total))) {
        waiters.delete(claim);
        listener(null);
        // The first in the queue needs more shared room, so nobody else takes any.
      } else isOpen = false;
    }
  };

  const look = (): void => {
    const now = monotonic();
    for (const { claim, listener, until } of waiters.values()) {
      if (now < until) continue;
      waiters.delete(claim);
      listener(refuse());
    }
    makeWay(now);
    if (waiters.size > 0 || timer === null) return;
    clearInterval(timer);
    timer = null;
  };

  /** Ends slow bodies of keys that hold more than their part while others wait. */
  const makeWay = (now: number): void => {
    const first = inTurn()[0];
    if (first === undefined) return;
    const holders = [...keys.values()].filter(({ shared }) => shared > 0);
    const others = holders.filter((key) => key !== first.claim.key);
    const part = room.sharedLimit / (others.length + 1);
    const greedy = others.filter(({ shared }) => shared > part);
    for (const { claims } of greedy.toSorted((one, other) => other.shared - one.shared)) {
      for (const claim of claims) {
        if (!waiters.has(first.claim)) return;
        if (claim.isShared && now - claim.readingSince >= patience) claim.giveWay?.(refuse());
      }
    }
  };

  return {
    get size() {
      return waiters.size;
    },
    add(claim, total, listener) {
      waiters.set(claim, { claim, total, listener, until: monotonic() + longestWait });
      timer ??= setInterval(look, lookMs).unref();
      // The claims before it may wait for something other than room.
      serve();
    },
    remove: (claim) => void waiters.delete(claim),
    serve,
  };
}
