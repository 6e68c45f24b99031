import { GatewayError } from '#errors/index.ts';
import type { Clock } from './clock.ts';

/** Something with deadlines. */
export interface Watched {
  /** Gets the monotonic time. */
  tick(now: number): void;
  /** Ends it now, with this error for its client. */
  end(error: GatewayError): void;
}

/** Something's being watched. */
export interface Watching {
  /** Ends it; more than once is once. */
  end(): void;
}

/** Calls every open exchange a few times a second: one timer for all of them, whatever their number. */
export interface Watch {
  add(watched: Watched): Watching;
  /** Ends everything, also what is added from now on: the gateway stops. */
  endAll(): void;
  close(): void;
}

/**
 * What is watched, until it no longer is. The table of a `Set` points to the one that replaced it, also after its own
 * end; once such a table has become old, everything that ever was in its successors would look alive to the collection
 * of young objects, and each request with all of its state would be kept until memory is marked as a whole. So the set
 * holds these, which let go.
 */
class Place implements Watching {
  watched: Watched | null;
  readonly #all: Set<Place>;

  constructor(watched: Watched, all: Set<Place>) {
    this.watched = watched;
    this.#all = all;
    all.add(this);
  }

  end(): void {
    this.watched = null;
    this.#all.delete(this);
  }
}

/** @param onError told of what one of the watched threw; only that one is ended. */
export function createWatch(
  clock: Pick<Clock, 'monotonic'>,
  onError: (error: unknown) => void,
  intervalMs = 250,
): Watch {
  const all = new Set<Place>();
  let timer: NodeJS.Timeout | null = null;
  let ending = false;

  const call = (place: Place, now: number): void => {
    const { watched } = place;
    if (watched === null) return;
    try {
      if (ending) watched.end(new GatewayError('unavailable'));
      else watched.tick(now);
    } catch (error) {
      onError(error);
      place.end();
      endBroken(watched, error);
    }
  };
  const tick = (): void => {
    const now = clock.monotonic();
    for (const place of all) call(place, now);
  };
  const endBroken = (watched: Watched, cause: unknown): void => {
    try {
      watched.end(new GatewayError('internal_error', { cause }));
    } catch (error) {
      onError(error);
    }
  };

  return {
    add(watched) {
      timer ??= setInterval(tick, intervalMs).unref();
      return new Place(watched, all);
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
