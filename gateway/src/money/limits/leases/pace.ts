import type { WantedMeter } from '#leases/index.ts';

/** What a process wants to have in reserve on one meter. */
export interface Reserve extends WantedMeter {
  /** Nano-USD. */
  readonly amount: bigint;
}

interface Use {
  /** As a request or another worker named it last. */
  meter: WantedMeter;
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
  /** The span of the use that the other workers know of. */
  sharedSpan: number;
  /** What another worker wants in reserve, and until when that counts here. */
  expected: bigint;
  expectedUntil: number;
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
  noteUse(meter: WantedMeter, amount: bigint): void;
  /** Another worker serves this payer: its next request may come here. */
  expect(reserve: Reserve): void;
  /** What this process wants in reserve, by its own use; each meter once per span of time. Takes at most so many. */
  takeReserves(most: number): Reserve[];
  /**
   * What to draw ahead of need: twice what is held within the time of the reserve, at least the last hold. Or what
   * another worker expects, if that is more: payers reach workers in turn. And the floor, since a lease with less than
   * that admits nobody.
   */
  ahead(meter: string): bigint;
  /** Whether half of what is drawn ahead is used. @param free nano-USD that the lease can back at once */
  isLow(meter: string, free: bigint): boolean;
  /** What the lease must have free for another request like the last one, in nano-USD; 0 if it has been idle. */
  nextNeed(meter: string): bigint;
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

  const useOf = (meter: WantedMeter, now: number): Use => {
    const span = Math.floor(now / spanMs);
    let use = uses.get(meter.name);
    if (use === undefined) {
      const empty = { current: 0n, before: 0n, span, since: now, hold: 0n, drawAt: -Infinity };
      const unshared = { sharedSpan: -1, expected: 0n, expectedUntil: -Infinity };
      use = { ...empty, ...unshared, meter, usedAt: now };
      uses.set(meter.name, use);
    }
    use.meter = meter;
    use.usedAt = now;
    return use;
  };

  const ownAhead = ({ current, before, since, hold }: Use): bigint => {
    // A few requests in the first second are no rate yet.
    const measuredMs = Math.max(monotonic() - since, spanMs / 3);
    const wanted = ((current + before) * BigInt(2 * spanMs)) / BigInt(Math.ceil(measuredMs));
    return wanted > hold ? wanted : hold;
  };

  /** Beyond the floor. */
  const wantedAhead = (use: Use): bigint => {
    const own = ownAhead(use);
    return monotonic() < use.expectedUntil && use.expected > own ? use.expected : own;
  };

  return {
    noteUse(meter, amount) {
      const now = monotonic();
      const span = Math.floor(now / spanMs);
      const use = useOf(meter, now);
      if (use.span !== span) {
        const isNext = use.span === span - 1;
        use.before = isNext ? use.current : 0n;
        use.since = isNext ? Math.max(use.since, use.span * spanMs) : now;
        use.current = 0n;
        use.span = span;
      }
      use.current += amount;
      use.hold = amount;
    },
    expect({ amount, ...meter }) {
      const now = monotonic();
      const use = useOf(meter, now);
      use.expected = amount;
      use.expectedUntil = now + idleMs;
    },
    takeReserves(most) {
      const reserves: Reserve[] = [];
      const idleSince = monotonic() - idleMs;
      for (const use of uses.values()) {
        const isNew = use.hold > 0n && use.sharedSpan !== use.span;
        // Nobody else looks at those without a lease.
        if (use.usedAt <= idleSince) uses.delete(use.meter.name);
        else if (isNew && reserves.length < most) {
          use.sharedSpan = use.span;
          reserves.push({ ...use.meter, amount: ownAhead(use) });
        }
      }
      return reserves;
    },
    ahead(meter) {
      const use = uses.get(meter);
      return use === undefined ? 0n : wantedAhead(use) + use.meter.floor;
    },
    isLow(meter, free) {
      const use = uses.get(meter);
      return use !== undefined && (free - use.meter.floor) * 2n < wantedAhead(use);
    },
    nextNeed(meter) {
      const { hold = 0n, meter: { floor } = { floor: 0n } } = uses.get(meter) ?? {};
      return hold > floor ? hold : floor;
    },
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
