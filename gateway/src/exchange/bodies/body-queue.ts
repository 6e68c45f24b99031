import type { GatewayError } from '#errors/index.ts';
import type { BodyClaim, RoomListener } from './body-claim.ts';
import type { BodyRoom } from './body-room.ts';
import type { KeyUse } from './key-use.ts';

/** Milliseconds. Longer than this a client is better off asking again. */
const longestWait = 5_000;
/** Milliseconds for which a body may arrive while another key waits for its room: less than that key waits. */
const patience = 4_000;
/** How often who waits is looked at. Milliseconds. */
const lookMs = 250;

/** Requests whose bodies have to wait for memory. */
export interface BodyQueue {
  readonly size: number;
  /** The listener may be told at once. */
  add(claim: BodyClaim, total: number, listener: RoomListener): void;
  /** Its listener hears nothing more. */
  remove(claim: BodyClaim): void;
  /** To be called whenever something was given back. */
  serve(): void;
}

export interface BodyQueueOptions {
  readonly room: BodyRoom;
  /** All that have a body under way. */
  readonly keys: ReadonlyMap<string, KeyUse>;
  readonly refuse: () => GatewayError;
  /** Milliseconds. */
  readonly monotonic: () => number;
}

interface Waiter {
  readonly claim: BodyClaim;
  /** Bytes that it is to hold in all. */
  readonly total: number;
  readonly listener: RoomListener;
  /** Monotonic milliseconds. */
  readonly until: number;
}

/** Serves the keys that hold least, and of one key's bodies the first. Who waits holds nothing. */
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
        // Nobody takes the shared room of who is first and needs more of it.
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

  /** Ends bodies that take their time to arrive, of keys that hold more than their part while others wait. */
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
      // Those before it may wait for something else than room.
      serve();
    },
    remove: (claim) => void waiters.delete(claim),
    serve,
  };
}
