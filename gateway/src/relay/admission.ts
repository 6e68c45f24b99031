import { GatewayError } from '../errors/index.ts';

/** Limits how many exchanges are under way at once; a few more wait in the order in which they came. */
export interface Admission {
  /** Exchanges that hold a place. */
  readonly inFlight: number;
  readonly waiting: number;
  /** Takes a place when there is one and nobody is before it. `leave` gives it back, once. */
  tryEnter(): boolean;
  leave(): void;
  /**
   * Waits for a place; the listener is told once, of a place it now holds (null) or of why there is none.
   * @throws GatewayError when waiting makes no sense.
   */
  wait(listener: (refusal: GatewayError | null) => void): Waiting;
  /** Refuses all who wait: the gateway stops. */
  refuseWaiting(): void;
}

/** A request in the queue. */
export interface Waiting {
  /** It does not wait any more; its listener is told so. Nothing happens when it has been told already. */
  giveUp(): void;
}

export interface AdmissionOptions {
  readonly inFlight: number;
  /** How many may wait. */
  readonly queue: number;
  /** While true nobody new is admitted, whatever places there are. */
  readonly isOverloaded: () => boolean;
  /** Milliseconds. Longer than this a client is better off asking again. */
  readonly longestWait?: number;
}

const longestWait = 5_000;

/** In the memory of this process: each worker has places of its own. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { isOverloaded } = options;
  const waiting = new Set<(refusal: GatewayError | null) => void>();
  let inFlight = 0;

  return {
    get inFlight() {
      return inFlight;
    },
    get waiting() {
      return waiting.size;
    },
    tryEnter() {
      if (inFlight >= options.inFlight || waiting.size > 0 || isOverloaded()) return false;
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
    wait(listener) {
      if (isOverloaded() || waiting.size >= options.queue) throw overloaded();
      const settle = (refusal: GatewayError | null): void => {
        if (!waiting.delete(settle)) return;
        clearTimeout(timer);
        listener(refusal);
      };
      const giveUp = (): void => settle(overloaded());
      const timer = setTimeout(giveUp, options.longestWait ?? longestWait).unref();
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
