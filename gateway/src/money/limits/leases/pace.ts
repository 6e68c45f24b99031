interface Use {
  usedAt: number;
  /** Nano-USD held in this span of time, and in the one before. */
  current: bigint;
  before: bigint;
  span: number;
  /** When the first of these holds began. */
  since: number;
  /** The last hold. */
  hold: bigint;
  /** When more may be drawn ahead. */
  drawAt: number;
}

/** Without a reserve, the use of a few seconds is drawn ahead. Milliseconds. */
const shortestSpanMs = 2_000;
/** After a draw that brought too little, the next one waits: near a limit every request asks for itself. */
const restMs = 1_000;
/** A lease goes back if nobody used it for this time, or for some reserves if that is longer. Milliseconds. */
const shortestIdleMs = 10_000;
const idleReserves = 3;

/** How fast the leases of this node are used, and so how much of them it keeps in reserve. */
export interface Pace {
  noteUse(meter: string, amount: bigint): void;
  /** What to draw ahead of need: twice what is held within the time of the reserve, at least the last hold. */
  ahead(meter: string): bigint;
  /** The last hold in nano-USD; 0 if it has been idle. */
  lastHold(meter: string): bigint;
  drewTooLittle(meter: string): void;
  mayDraw(meter: string): boolean;
  /** Whether it was not used for so long that its lease goes back. Forgets what it knew. */
  isIdle(meter: string): boolean;
}

/**
 * A lease is filled up once half of what is drawn ahead is left. So it always has the reserve, at the rate of the last
 * minutes, unless that is more than its share of what is left.
 * @param monotonic milliseconds
 * @param reserveMs for how long the leases should suffice without the database
 */
export function createPace(monotonic: () => number, reserveMs: number): Pace {
  const spanMs = Math.max(reserveMs, shortestSpanMs);
  const idleMs = Math.max(idleReserves * reserveMs, shortestIdleMs);
  const uses = new Map<string, Use>();
  return {
    noteUse(meter, amount) {
      const now = monotonic();
      const span = Math.floor(now / spanMs);
      let use = uses.get(meter);
      if (use === undefined) {
        const empty = { current: 0n, before: 0n, span, since: now, drawAt: -Infinity };
        use = { ...empty, usedAt: now, hold: amount };
        uses.set(meter, use);
      }
      if (use.span !== span) {
        const isNext = use.span === span - 1;
        use.before = isNext ? use.current : 0n;
        use.since = isNext ? Math.max(use.since, use.span * spanMs) : now;
        use.current = 0n;
        use.span = span;
      }
      use.current += amount;
      use.hold = amount;
      use.usedAt = now;
    },
    ahead(meter) {
      const use = uses.get(meter);
      if (use === undefined) return 0n;
      const recent = use.current + use.before;
      // A few requests in the first second are no rate yet.
      const measuredMs = Math.max(monotonic() - use.since, spanMs / 3);
      const wanted = (recent * BigInt(2 * spanMs)) / BigInt(Math.ceil(measuredMs));
      return wanted > use.hold ? wanted : use.hold;
    },
    lastHold: (meter) => uses.get(meter)?.hold ?? 0n,
    drewTooLittle(meter) {
      const use = uses.get(meter);
      if (use !== undefined) use.drawAt = monotonic() + restMs;
    },
    mayDraw: (meter) => monotonic() >= (uses.get(meter)?.drawAt ?? -Infinity),
    isIdle(meter) {
      const use = uses.get(meter);
      if (use !== undefined && monotonic() - use.usedAt < idleMs) return false;
      uses.delete(meter);
      return true;
    },
  };
}
