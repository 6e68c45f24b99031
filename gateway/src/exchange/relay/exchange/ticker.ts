import { GatewayError } from '#errors/index.ts';
import type { Clock } from './clock.ts';

/** Something with deadlines. */
export interface TickListener {
  /** Gets the monotonic time. */
  tick(now: number): void;
  /** Ends it now, with this error for its client. */
  end(error: GatewayError): void;
}

/** Being called by the ticker. */
export interface TickRegistration {
  /** Ends it. Idempotent. */
  end(): void;
}

/** Calls every open exchange a few times a second: one timer for all of them, whatever their number. */
export interface Ticker {
  add(listener: TickListener): TickRegistration;
  /** Ends everything, also what is added from now on: the gateway stops. */
  endAll(): void;
  close(): void;
}

/**
 * A listener, until it is called no more. The table of a `Set` points to the one that replaced it, also after its own
 * end; once such a table has become old, everything that ever was in its successors would look alive to the collection
 * of young objects, and each request with all of its state would be kept until memory is marked as a whole. So the set
 * holds these, which let go.
 */
class TickerEntry implements TickRegistration {
  listener: TickListener | null;
  readonly #all: Set<TickerEntry>;

  constructor(listener: TickListener, all: Set<TickerEntry>) {
    this.listener = listener;
    this.#all = all;
    all.add(this);
  }

  end(): void {
    this.listener = null;
    this.#all.delete(this);
  }
}

/** @param onError hears of what a listener threw; only that listener is ended. */
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
      return new TickerEntry(listener, all);
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
