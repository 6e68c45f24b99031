interface Use {
  usedAt: number;
  /** Nano-USD held in this span of time, and in the one before. */
  current: bigint;
  before: bigint;
  span: number;
  /** The last hold. */
  hold: bigint;
  /** When more may be drawn ahead. */
  drawAt: number;
}

const spanMs = 2_000;
/** After a draw that brought too little, the next one waits: near a limit every request asks for itself. */
const restMs = 1_000;

/** How fast the leases of this node are used. */
export interface Pace {
  noteUse(meter: string, amount: bigint): void;
  /** What to draw ahead of need: what was held in the last seconds, at least the last hold. */
  ahead(meter: string): bigint;
  /** The last hold in nano-USD; 0 if it has been idle. */
  lastHold(meter: string): bigint;
  drewTooLittle(meter: string): void;
  mayDraw(meter: string): boolean;
  /** Whether it was not used for so long that its lease goes back. Forgets what it knew. */
  isIdle(meter: string): boolean;
}

/** @param monotonic milliseconds */
export function createPace(monotonic: () => number, idleMs: number): Pace {
  const uses = new Map<string, Use>();
  return {
    noteUse(meter, amount) {
      const now = monotonic();
      const span = Math.floor(now / spanMs);
      let use = uses.get(meter);
      if (use === undefined) {
        use = { usedAt: now, current: 0n, before: 0n, span, hold: amount, drawAt: -Infinity };
        uses.set(meter, use);
      }
      if (use.span !== span) {
        use.before = use.span === span - 1 ? use.current : 0n;
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
      return recent > use.hold ? recent : use.hold;
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
