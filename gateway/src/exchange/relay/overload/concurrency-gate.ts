import { GatewayError } from '#errors/index.ts';
import type { PressureCause } from './pressure.ts';

/** Why a request is refused before it becomes an exchange: no slot became free, or this process is overloaded. */
export type OverloadCause = PressureCause | 'places';

/** Limits how many exchanges run at once. A few more wait in order of arrival. */
export interface ConcurrencyGate {
  /** How many exchanges hold a slot. */
  readonly inFlight: number;
  readonly waiting: number;
  /** How many requests have been refused since the start, by cause. */
  readonly refused: Readonly<Record<OverloadCause, number>>;
  /**
   * Takes a slot if one is free and no request is waiting. `leave` returns it, and is called once.
   * @param isLarge the request's body is large, or may be
   */
  tryEnter(isLarge: boolean): boolean;
  leave(): void;
  /**
   * Waits for a slot. The listener is called once: with null when the request has a slot, or with the reason why it
   * gets none.
   * @throws GatewayError when waiting is pointless.
   */
  wait(isLarge: boolean, listener: (refusal: GatewayError | null) => void): Waiting;
  /** Refuses all waiting requests, because the gateway stops. */
  refuseWaiting(): void;
}

/** A waiting request. */
export interface Waiting {
  /** Ends the waiting and calls the listener, unless the listener has been called already. */
  giveUp(): void;
}

export interface ConcurrencyOptions {
  readonly inFlight: number;
  /** How many requests may wait. */
  readonly queue: number;
  /** Why no new request is admitted even if slots are free; null: they are admitted. */
  readonly pressure: (isLarge: boolean) => PressureCause | null;
  /** Milliseconds. After a longer wait the client had better ask again. */
  readonly longestWait?: number;
}

const longestWait = 5_000;

/** Counts in this process only: each worker has slots of its own. */
export function createConcurrencyGate(options: ConcurrencyOptions): ConcurrencyGate {
  const { pressure } = options;
  const waiting = new Set<(refusal: GatewayError | null) => void>();
  const refusals = { places: 0, lag: 0, memory: 0 };
  let inFlight = 0;

  const refuse = (cause: OverloadCause): GatewayError => {
    refusals[cause] += 1;
    return overloadedError();
  };

  return {
    get inFlight() {
      return inFlight;
    },
    get waiting() {
      return waiting.size;
    },
    refused: refusals,
    tryEnter(isLarge) {
      if (inFlight >= options.inFlight || waiting.size > 0 || pressure(isLarge)) return false;
      inFlight += 1;
      return true;
    },
    leave() {
      inFlight -= 1;
      const next = inFlight < options.inFlight ? waiting.values().next().value : undefined;
      if (next === undefined) return;
      inFlight += 1;
      next(null);
    },
    wait(isLarge, listener) {
      const cause = pressure(isLarge) ?? (waiting.size >= options.queue ? 'places' : null);
      if (cause !== null) throw refuse(cause);
      const settle = (refusal: GatewayError | null): void => {
        if (!waiting.delete(settle)) return;
        clearTimeout(timer);
        listener(refusal);
      };
      const giveUp = (): void => settle(overloadedError());
      const timer = setTimeout(
        () => settle(refuse('places')),
        options.longestWait ?? longestWait,
      ).unref();
      waiting.add(settle);
      return { giveUp };
    },
    refuseWaiting() {
      for (const settle of waiting) settle(overloadedError());
    },
  };
}

function overloadedError(): GatewayError {
  return new GatewayError('overloaded', { retryAfter: 1 });
}

/**
 * How many responses may be drained at once to learn what they cost. Only a small share of all places, so that clients
 * that leave cannot keep out clients that stay.
 */
export interface DrainSlots {
  /** Returns false when all are taken. `release` returns one, and is called once. */
  take(): boolean;
  release(): void;
}

const share = 0.05;

/** @param inFlight how many exchanges may run at once */
export function createDrainSlots(inFlight: number): DrainSlots {
  const limit = Math.max(1, Math.floor(inFlight * share));
  let takenSlots = 0;
  return {
    take() {
      if (takenSlots >= limit) return false;
      takenSlots += 1;
      return true;
    },
    release() {
      takenSlots -= 1;
    },
  };
}
