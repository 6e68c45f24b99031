import { GatewayError } from '#errors/index.ts';

/** An object that has deadlines. */
export interface TickListener {
  /** Called with the monotonic time. */
  tick(now: number): void;
  /** Ends the exchange now, with this error for its client. */
  end(error: GatewayError): void;
}

/** The registration of a listener with the ticker. */
export interface TickRegistration {
  /** Ends the registration. May be called several times. */
  end(): void;
}

/** Calls all open exchanges several times a second, with one timer for all of them. */
export interface Ticker {
  add(listener: TickListener): TickRegistration;
  /** Ends all listeners, and those that are added later, because the gateway stops. */
  endAll(): void;
  close(): void;
}

/**
 * Holds a listener until its registration ends. The set of listeners holds these entries instead of the listeners
 * themselves, so that a finished request can be collected early. The reason is in V8: when a `Set` grows, its old table
 * points to the new one. An old table that has reached the old generation keeps alive, until the next full collection,
 * everything that was ever in its successors: each request with all its state. Of an entry that has let go of its
 * listener, only the entry stays.
 */
interface TickerEntry extends TickRegistration {
  listener: TickListener | null;
}

/** @param onError called with what a listener threw; only that listener is ended. */
export function createTicker(
  clock: Pick<Clock, 'monotonic'>,
  onError: (error: unknown) => void,
  intervalMs = 250,
): Ticker {
  const all = new Set<TickerEntry>();
  let timer: NodeJS.Timeout | null = null;
  let ending = false;

  const call = (entry: TickerEntry, now: number): void => {
    const { listener } = entry;
    if (listener === null) return;
    try {
      if (ending) listener.end(new GatewayError('unavailable'));
      else listener.tick(now);
    } catch (error) {
      onError(error);
      entry.end();
      endBroken(listener, error);
    }
  };
  const tick = (): void => {
    const now = clock.monotonic();
    for (const entry of all) call(entry, now);
  };
  const endBroken = (listener: TickListener, cause: unknown): void => {
    try {
      listener.end(new GatewayError('internal_error', { cause }));
    } catch (error) {
      onError(error);
    }
  };

  return {
    add(listener) {
      timer ??= setInterval(tick, intervalMs).unref();
      const entry: TickerEntry = {
        listener,
        end() {
          entry.listener = null;
          all.delete(entry);
        },
      };
      all.add(entry);
      return entry;
    },
    endAll() {
      ending = true;
      tick();
    },
    close() {
      if (timer !== null) clearInterval(timer);
      timer = null;
      all.clear();
    },
  };
}

export interface Clock {
  /** Unix milliseconds. */
  now(): number;
  /** Milliseconds of a clock that never steps. */
  monotonic(): number;
}
