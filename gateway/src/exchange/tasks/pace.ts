import { lookRules } from './schedule.ts';

/** How often this node looks at the tasks of each channel. */
export interface Pace {
  /**
   * Reserves the next moment at which the channel may be asked. Null: it rests, or that moment is later than the caller
   * would wait.
   * @param perSecond over all nodes
   * @param most milliseconds
   * @returns milliseconds to wait
   */
  reserve(channel: string, perSecond: number, most: number): number | null;
  /** The channel is asked too often. @param seconds until when, as it says; null: it does not */
  rest(channel: string, seconds: number | null): void;
  /** The channels that this node may not ask for the next second. */
  busy(): readonly string[];
}

/** Milliseconds. */
const soon = 1_000;

interface Turn {
  /** Of the monotonic clock. */
  next: number;
  restUntil: number;
}

/**
 * @param monotonic milliseconds
 * @param liveNodes among which the looks of a channel are shared
 */
export function createPace(monotonic: () => number, liveNodes: () => number): Pace {
  const turns = new Map<string, Turn>();

  function turnOf(channel: string): Turn {
    let turn = turns.get(channel);
    if (turn === undefined) turns.set(channel, (turn = { next: 0, restUntil: 0 }));
    return turn;
  }

  return {
    reserve(channel, perSecond, most) {
      const turn = turnOf(channel);
      const now = monotonic();
      const at = Math.max(now, turn.next);
      if (turn.restUntil > now || at - now > most) return null;
      turn.next = at + (1_000 * Math.max(liveNodes(), 1)) / perSecond;
      return at - now;
    },
    rest(channel, seconds) {
      const restMs = seconds === null || seconds <= 0 ? lookRules.rest : seconds * 1_000;
      const until = monotonic() + Math.min(restMs, lookRules.mostRest);
      const turn = turnOf(channel);
      turn.restUntil = Math.max(turn.restUntil, until);
    },
    busy() {
      const now = monotonic();
      return Array.from(turns)
        .filter(([, { next, restUntil }]) => restUntil > now || next > now + soon)
        .map(([channel]) => channel);
    },
  };
}
