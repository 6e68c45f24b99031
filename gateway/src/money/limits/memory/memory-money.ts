import { createMemoryAuthority, newMeter, type MeterRow } from '#leases/index.ts';
import {
  compose,
  createBook,
  end,
  expire,
  leaseOf,
  learn,
  take,
  type OpenHold,
} from '../leases/book.ts';
import { createExpiry } from '../leases/expiry.ts';
import { GatewayError } from '#errors/index.ts';
import {
  unlimited,
  type HoldDecision,
  type HoldRequest,
  type Money,
  type SpentSource,
} from '../money.ts';
import { createSpentLookup } from '../spent-lookup.ts';
import { createForgetting } from './forget-idle.ts';

export interface MemoryMoneyOptions {
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Called once per meter, at its first use. */
  readonly spentSource: SpentSource;
  /** What tasks hold according to the database, read together with `spentSource`. Absent: nothing. */
  readonly heldSource?: SpentSource;
  /**
   * By the monotonic clock: the database includes everything charged before it. Later charges must not be forgotten,
   * because a new look-up would miss them. Absent: the database includes everything.
   */
  readonly appliedUntil?: () => number;
  readonly forgetting?: Readonly<Record<keyof typeof forgetting, number>>;
}

/** Above this number of meters, idle ones are forgotten and read from the database again. */
const forgetting = Object.freeze({ mostMeters: 200_000, idleMs: 600_000 });
const life = 'sole';
const nothing: readonly never[] = Object.freeze([]);

/**
 * Holds the money of the only process: whole limits are its leases. Every result is immediate, except for a hold on an
 * unknown meter, which waits for the source. Meters without a limit count too, so that a limit set later knows what was
 * spent and held. All durations use the monotonic clock, so a step of the wall clock grants or takes nothing.
 */
export function createMemoryMoney({
  now,
  monotonic,
  spentSource,
  heldSource: heldByTasks = async () => new Map(),
  appliedUntil = monotonic,
  forgetting: { mostMeters, idleMs } = forgetting,
}: MemoryMoneyOptions): Money {
  const rows = new Map<string, MeterRow>();
  const book = createBook(life, 0, true);
  const authority = createMemoryAuthority(life, rows, (name) => leaseOf(book, name).limit);
  const expiry = createExpiry(monotonic());
  const lookUp = createSpentLookup(spentSource);
  const lookUpHeld = createSpentLookup(heldByTasks);
  /** Holds that are about to become those of tasks. */
  const keeping = new Map<string, OpenHold>();

  const forgetIdle = createForgetting(rows, (_, name) => {
    const { holds, usedAt } = book.leases.get(name)!;
    const isInUse = holds > 0 || monotonic() - usedAt < idleMs || book.shortsEnded.has(name);
    if (isInUse || usedAt > appliedUntil()) return false;
    book.leases.delete(name);
    return true;
  });

  const catchUp = (): void => {
    book.now = monotonic();
    expiry.sweep(book.now, (id) => expire(book, id));
  };

  const enter = (name: string, amount: bigint, heldAmount: bigint): void => {
    if (rows.has(name)) return;
    rows.set(name, { ...newMeter(amount), held: heldAmount });
    leaseOf(book, name);
    if (rows.size > mostMeters) forgetIdle(4);
  };

  /** What the hold took of the leases is the task's now. */
  const keepHold = ({ amount, meters }: OpenHold): void => {
    for (const name of meters) {
      const row = rows.get(name)!;
      leaseOf(book, name).drawn -= amount;
      row.leased -= amount;
      row.held += amount;
    }
  };

  /** Asks the authority for what the lease does not back: the first hold, a short one, another limit. */
  const draw = ({ id, amount, meters, isExact = false }: HoldRequest): HoldDecision => {
    const want = { id, amount, meters, isLast: true, isExact };
    const ahead = new Map(meters.map((meter) => [meter.name, { ...meter, amount: unlimited }]));
    const reply = authority.run(compose(book, { wants: [want], idle: nothing, ahead }));
    if (reply.kind !== 'done') throw new Error(`the memory cannot lease funds: ${reply.kind}`);
    learn(book, reply);
    const outcome = reply.outcomes.get(id)!;
    if (outcome.kind === 'granted') return { isHeld: true, amount: outcome.amount };
    if (outcome.kind === 'refused') return { isHeld: false, denied: outcome.meter };
    throw new Error(`nobody else leases money: ${outcome.kind}`);
  };

  const hold = (request: HoldRequest): HoldDecision | Promise<HoldDecision> => {
    const { id, amount, meters, expiresAt } = request;
    catchUp();
    const before = book.holds.get(id);
    if (before?.isVoid === false) return { isHeld: true, amount: before.amount };
    if (before !== undefined) end(book, id, 0n);
    let decision: HoldDecision;
    if (take(book, request)) decision = { isHeld: true, amount };
    else {
      for (const { name } of meters) if (!rows.has(name)) return holdLater(request);
      decision = draw(request);
    }
    if (decision.isHeld) expiry.add(id, book.now + expiresAt - now());
    return decision;
  };

  const holdLater = async (request: HoldRequest): Promise<HoldDecision> => {
    await know(request.meters.map(({ name }) => name));
    return hold(request);
  };

  /** No task of these meters can begin or end meanwhile: both steps read their meters first. */
  const know = async (meters: readonly string[]): Promise<void> => {
    const unknown = meters.filter((name) => !rows.has(name));
    if (unknown.length === 0) return;
    const [amounts, held] = await Promise.all([lookUp(unknown), lookUpHeld(unknown)]);
    book.now = monotonic();
    for (const [name, amount] of amounts) enter(name, amount, held.get(name) ?? 0n);
  };

  return {
    isAway: false,
    hasFailed: false,
    hasLeases: true,
    unleasedAmount: 0n,
    hold,
    // What it costs lies in no lease that the database knows.
    announceCharge: () => null,
    commitHold(id, cost) {
      catchUp();
      end(book, id, cost);
      expiry.remove(id);
    },
    taskBeginning(id) {
      catchUp();
      const openHold = book.holds.get(id);
      if (openHold?.isVoid === true) throw new GatewayError('unavailable', { retryAfter: 1 });
      expiry.remove(id);
      if (openHold !== undefined) keeping.set(id, openHold);
      return null;
    },
    taskBegun(id, outcome) {
      const openHold = keeping.get(id);
      if (openHold === undefined) return;
      keeping.delete(id);
      end(book, id, 0n);
      if (outcome !== 'rolled-back') keepHold(openHold);
    },
    async taskEnding(meters) {
      await know(meters);
      for (const name of meters) leaseOf(book, name).usedAt = book.now = monotonic();
    },
    taskEnded({ meters, heldAmount, cost }) {
      for (const name of meters) {
        const row = rows.get(name);
        if (row === undefined) continue;
        row.held -= heldAmount;
        row.spent += cost;
        // It may have cost more than is left.
        if (cost > heldAmount) leaseOf(book, name).isBeyond = true;
      }
    },
    read(meter) {
      catchUp();
      const row = rows.get(meter);
      if (row === undefined) return null;
      const { charged, heldAmount } = book.leases.get(meter)!;
      return { spentAmount: row.spent + charged, heldAmount: row.held + heldAmount };
    },
    close: async () => {},
  };
}
