import { GatewayError } from '#errors/index.ts';
import type { PressureCause } from './pressure.ts';

/** Why a request is refused before it becomes an exchange: no slot came free, or this process cannot keep up. */
export type OverloadCause = PressureCause | 'places';

/** Limits how many exchanges are in flight at once; a few more wait in the order in which they came. */
export interface ConcurrencyGate {
  /** Exchanges that hold a slot. */
  readonly inFlight: number;
  readonly waiting: number;
  /** Requests refused since the start. */
  readonly refused: Readonly<Record<OverloadCause, number>>;
  /**
   * Takes a slot if one is free and nobody waits for it. `leave` gives it back, once.
   * @param isLarge its body is large, or may be
   */
  tryEnter(isLarge: boolean): boolean;
  leave(): void;
  /**
   * Waits for a slot; the listener is called once, with null when it holds a slot, or with why there is none.
   * @throws GatewayError when waiting makes no sense.
   */
  wait(isLarge: boolean, listener: (refusal: GatewayError | null) => void): Waiting;
  /** Refuses all who wait: the gateway stops. */
  refuseWaiting(): void;
}

/** A request in the queue. */
export interface Waiting {
  /** It does not wait any more, and its listener is called. Nothing happens if the listener was called before. */
  giveUp(): void;
}

export interface ConcurrencyOptions {
  readonly inFlight: number;
  /** How many may wait. */
  readonly queue: number;
  /** Why nobody new is admitted, whatever slots are free; null: they are. */
  readonly pressure: (isLarge: boolean) => PressureCause | null;
  /** Milliseconds. Longer than this a client is better off asking again. */
  readonly longestWait?: number;
}

const longestWait = 5_000;

/** In the memory of this process: each worker has slots of its own. */
export function createConcurrencyGate(options: ConcurrencyOptions): ConcurrencyGate {
  const { pressure } = options;
  const waiting = new Set<(refusal: GatewayError | null) => void>();
  const refused = { places: 0, lag: 0, memory: 0 };
  let inFlight = 0;

  const refuse = (cause: OverloadCause): GatewayError => {
    refused[cause] += 1;
    return overloaded();
  };

  return {
    get inFlight() {
      return inFlight;
    },
    get waiting() {
      return waiting.size;
    },
    refused,
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
      const giveUp = (): void => settle(overloaded());
      const timer = setTimeout(
        () => settle(refuse('places')),
        options.longestWait ?? longestWait,
      ).unref();
      waiting.add(settle);
      return { giveUp };
    },
    refuseWaiting() {
      for (const settle of waiting) settle(overloaded());
    },
  };
}

function overloaded(): GatewayError {
  return new GatewayError('overloaded', { retryAfter: 1 });
}
