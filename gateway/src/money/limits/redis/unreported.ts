import { createForgetting } from '../memory/forget-idle.ts';
import { windowParts } from '../memory/sliding-window.ts';
import type { RateLimit } from '../rates.ts';

/** The requests of one part of a window: when the last one came, and how many. */
interface Part {
  at: number;
  count: number;
}

/** What was admitted alone under one name, by 64ths of the window. */
export interface UnreportedWindow {
  readonly name: string;
  readonly windowMs: number;
  readonly parts: Map<number, Part>;
}

/**
 * What this node has admitted while it was alone, until Redis has counted it. It is reported with the latest
 * time of each 64th of a window, so it counts for up to a 64th too long.
 */
export interface Unreported {
  /** The number of windows. */
  readonly size: number;
  /** Remembers a request that was admitted now. */
  add(limits: readonly RateLimit[]): void;
  /** Removes windows, in order to report them. @param most how many at most */
  take(most: number): readonly UnreportedWindow[];
  /** Puts back what Redis has not counted. */
  putBack(windows: readonly UnreportedWindow[]): void;
}

/** @param monotonic milliseconds */
export function createUnreported(monotonic: () => number): Unreported {
  const windows = new Map<string, UnreportedWindow>();
  const forgetOld = createForgetting(windows, ({ windowMs, parts }) => {
    let latest = Number.NEGATIVE_INFINITY;
    for (const { at } of parts.values()) latest = Math.max(latest, at);
    return monotonic() - latest >= windowMs;
  });

  const windowOf = ({ name, windowMs }: Pick<RateLimit, 'name' | 'windowMs'>): UnreportedWindow => {
    let window = windows.get(name);
    if (window?.windowMs !== windowMs) {
      windows.set(name, (window = { name, windowMs, parts: new Map() }));
    }
    return window;
  };

  const count = ({ parts }: UnreportedWindow, number: number, at: number, more: number): void => {
    const part = parts.get(number);
    if (part === undefined) {
      parts.set(number, { at, count: more });
      // The parts of one window, and the one before them.
      if (parts.size > windowParts + 1) parts.delete(Math.min(...parts.keys()));
    } else {
      part.at = Math.max(part.at, at);
      part.count += more;
    }
  };

  return {
    get size() {
      return windows.size;
    },
    add(limits) {
      const now = monotonic();
      for (const limit of limits) {
        if (limit.windowMs === 0) continue;
        count(windowOf(limit), Math.floor((now / limit.windowMs) * windowParts), now, 1);
      }
      forgetOld(limits.length + 1);
    },
    take(most) {
      const takenWindows: UnreportedWindow[] = [];
      for (const window of windows.values()) {
        if (takenWindows.length >= most) break;
        windows.delete(window.name);
        takenWindows.push(window);
      }
      return takenWindows;
    },
    putBack(back) {
      for (const window of back) {
        for (const [number, part] of window.parts) {
          count(windowOf(window), number, part.at, part.count);
        }
      }
    },
  };
}
