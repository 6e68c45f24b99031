import type { LeasedPart, Want } from '#leases/index.ts';
import {
  unlimited,
  type ChargedLease,
  type HoldDecision,
  type HoldRequest,
  type MeterState,
  type Money,
} from '../money.ts';
import { end, expire, freeOf, mustReturn, returnLostCharge, take, type Book } from './book.ts';
import { createExpiry, type Expiry } from './expiry.ts';
import { createKeptHolds, type KeptHolds } from './kept-holds.ts';
import { LeaseLooks } from './lease-looks.ts';
import { leaseRules } from './lease-rules.ts';
import { LeaseWork } from './lease-work.ts';
import type { LeaseLife, LifeOptions } from './lease-life.ts';
import { createPace, type Pace } from './pace.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { shareReserves, type Peers } from './shared-reserves.ts';
import { createUnleased, type Unleased, type UnleasedOptions } from './unleased.ts';
import { createUnwritten, type Unwritten } from './unwritten.ts';
import { createWaiting, unavailable, type WaitingRequests } from './waiting.ts';

export interface LeasedMoneyOptions extends LifeOptions, UnleasedOptions {
  /** Milliseconds of the monotonic clock: what was recorded before it is in the database. */
  readonly appliedUntil: () => number;
  /** Null: this process is the only worker of its node. */
  readonly peers: Peers | null;
}

/** A hold that has ended, and by meter the part of its charge in a lease. */
interface Ended {
  readonly own: Book;
  readonly parts: ReadonlyMap<string, bigint>;
}

const leaseOn = (meters: readonly string[], { own, parts }: Ended): ChargedLease => ({
  life: own.life,
  parts: meters.map((meter) => String(parts.get(meter) ?? 0n)),
});

/** Holds money that this node has leased. See docs/decisions/0027-leases.md. */
export class LeasedMoney implements Money {
  readonly #options: LeasedMoneyOptions;
  readonly #pace: Pace;
  readonly #refusals: Refusals;
  readonly #expiry: Expiry;
  readonly #unwritten: Unwritten;
  readonly #keptHolds: KeptHolds;
  readonly #waiting: WaitingRequests;
  readonly #work: LeaseWork;
  readonly #life: LeaseLife;
  readonly #looks: LeaseLooks;
  readonly #unleased: Unleased;
  readonly #sharing: { close(): void } | null;
  /** The book of each open hold: an earlier life's may be among them. */
  readonly #holders = new Map<string, Book>();

  constructor(options: LeasedMoneyOptions) {
    const { authority, monotonic, appliedUntil } = options;
    this.#options = options;
    const pace = createPace(monotonic, options.reserveMs);
    const refusals = createRefusals(monotonic);
    const waiting = createWaiting({ refusals, monotonic, rules: leaseRules });
    this.#pace = pace;
    this.#refusals = refusals;
    this.#waiting = waiting;
    this.#expiry = createExpiry(monotonic());
    this.#unwritten = createUnwritten({ authority, monotonic, appliedUntil });
    this.#keptHolds = createKeptHolds(authority, monotonic);
    this.#unleased = createUnleased(options);
    const work = new LeaseWork(options, {
      pace,
      waiting,
      takeNow: (want, request) => this.#takeNow(want, request),
      openHold: (request, amount) => this.#openHold(request, amount),
      holdUnleased: (request) => this.#holdUnleased(request),
    });
    this.#work = work;
    this.#life = work.life;
    this.#looks = new LeaseLooks(options, {
      work,
      pace,
      refusals,
      waiting,
      settle: () => this.#settle(),
    });
    const { peers, reserveMs } = options;
    this.#sharing = peers === null || reserveMs === 0 ? null : shareReserves({ peers, pace, work });
  }

  get isAway(): boolean {
    return this.#work.isAway;
  }

  get hasFailed(): boolean {
    return this.#work.hasFailed;
  }

  get unleasedAmount(): bigint {
    return this.#unleased.amount;
  }

  get hasLeases(): boolean {
    if (this.#unleased.isWanted) return true;
    const { book, isSilent } = this.#life;
    if (book === null || isSilent) return false;
    for (const [meter, lease] of book.leases) {
      const free = freeOf(lease);
      if (free > 0n && free >= this.#pace.nextNeed(meter)) return true;
    }
    return false;
  }

  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision> {
    const { id, amount, isExact = false } = request;
    this.#sweep();
    this.#unleased.note(request);
    const before = this.#holders.get(id)?.holds.get(id);
    if (before?.isVoid === false) return { isHeld: true, amount: before.amount };
    if (before !== undefined) this.#endHold(id, 0n);
    const meters = request.meters.filter(({ limit }) => limit !== unlimited);
    if (meters.length === 0) return { isHeld: true, amount };
    const want: Want = { id, amount, meters, isLast: false, isExact };
    const decision = this.#takeNow(want, request);
    if (decision !== null) return decision;
    const deniedMeter = this.#refusals.of(request);
    if (deniedMeter !== null) return { isHeld: false, denied: deniedMeter };
    const resting = this.#life.book?.resting;
    const isResting = meters.some(({ name }) => resting?.has(name) === true);
    if (this.#work.isClosed || isResting) return Promise.reject(unavailable());
    const { isPaused } = this.#work;
    if (isPaused) {
      const unleased = this.#holdUnleased(request);
      if (unleased !== null) return unleased;
      if (!this.#work.mayRestart) return Promise.reject(unavailable());
    }
    const later = this.#waiting.add(want, request);
    if (isPaused) this.#work.beginLater();
    else this.#work.begin();
    return later;
  }

  announceCharge(
    [id = '', ...extensions]: readonly string[],
    meters: readonly string[],
    cost: bigint,
  ): ChargedLease | null {
    // What extended the hold backs the charge too.
    for (const extension of extensions) this.#endHold(extension, 0n);
    const endedHold = this.#endHold(id, cost);
    if (endedHold === null) return null;
    if (endedHold.own !== this.#unleased.book)
      this.#unwritten.begin(id, endedHold.own, endedHold.parts);
    return leaseOn(meters, endedHold);
  }

  commitHold(id: string, cost: bigint): void {
    this.#endHold(id, 0n);
    this.#unwritten.end(id, cost > 0n);
    this.#unleased.recorded(id);
  }

  taskBeginning(id: string, meters: readonly string[]): ChargedLease | null {
    const openHold = this.#holders.get(id)?.holds.get(id);
    if (openHold?.isVoid === true) throw unavailable();
    const endedHold = this.#endHold(id, openHold?.amount ?? 0n);
    if (endedHold === null) return null;
    this.#keptHolds.begin(id, endedHold.own, endedHold.parts);
    return leaseOn(meters, endedHold);
  }

  taskBegun(id: string, outcome: Parameters<Money['taskBegun']>[1]): void {
    this.#keptHolds.end(id, outcome);
    this.#work.beginIfAny();
  }

  // Its transaction tells all processes.
  async taskEnding(): Promise<void> {}
  taskEnded(): void {}

  /** The database will never accept the record of a charge that lay in these leases. */
  reject(leasedParts: readonly LeasedPart[]): void {
    const { book } = this.#life;
    if (book === null) return;
    const parts = leasedParts.filter(({ life }) => life === book.life);
    returnLostCharge(book, new Map(parts.map(({ meter, part }) => [meter, part])));
  }

  async read(meter: string): Promise<MeterState | null> {
    this.#sweep();
    const own = this.#life.book;
    try {
      const state = await this.#options.authority.read(meter, own?.life ?? null);
      const { spent, held, settled } = state;
      const lease = own?.leases.get(meter);
      if (lease === undefined) return { spentAmount: spent, heldAmount: held };
      return { spentAmount: spent + lease.charged - settled, heldAmount: held + lease.heldAmount };
    } catch {
      return null;
    }
  }

  /** Returns what is idle. */
  async close(): Promise<void> {
    this.#sharing?.close();
    this.#looks.close();
    await this.#work.close();
  }

  async #settle(): Promise<void> {
    this.#sweep();
    await this.#unwritten.settle();
    await this.#keptHolds.settle();
  }

  #sweep(): void {
    this.#expiry.sweep(this.#options.monotonic(), (id) => {
      const own = this.#holders.get(id);
      if (own !== undefined) expire(own, id);
    });
  }

  #openHold(
    { id, expiresAt }: HoldRequest,
    amount: bigint,
    own: Book = this.#life.book!,
  ): HoldDecision {
    const { monotonic, now } = this.#options;
    this.#holders.set(id, own);
    this.#expiry.add(id, monotonic() + expiresAt - now());
    return { isHeld: true, amount };
  }

  #takeNow(want: Want, request: HoldRequest): HoldDecision | null {
    const { book, isSilent } = this.#life;
    if (book === null || isSilent || !take(book, want)) return null;
    for (const meter of want.meters) this.#pace.noteUse(meter, want.amount);
    this.#work.fillUp(want.meters);
    return this.#openHold(request, want.amount);
  }

  /** Null: the operator does not want that, or no more of it. */
  #holdUnleased(request: HoldRequest): HoldDecision | null {
    if (this.#refusals.isLastKnown(request) || !this.#unleased.take(request)) return null;
    return this.#openHold(request, request.amount, this.#unleased.book);
  }

  #endHold(id: string, cost: bigint): Ended | null {
    const own = this.#holders.get(id);
    const openHold = own?.holds.get(id);
    if (own === undefined || openHold === undefined) return null;
    this.#holders.delete(id);
    this.#expiry.remove(id);
    if (own === this.#unleased.book) return { own, parts: this.#unleased.end(id, cost) };
    const parts = end(own, id, cost);
    for (const meter of openHold.meters) this.#refusals.forget(meter);
    if (own !== this.#life.book) {
      this.#life.endIfDone(own);
      return { own, parts };
    }
    const isCalled = openHold.meters.some((meter) => {
      const lease = own.leases.get(meter);
      return lease !== undefined && mustReturn(lease);
    });
    if (own.shortsEnded.size > 0 || !this.#waiting.isEmpty || isCalled) {
      this.#waiting.hurry();
      this.#work.begin();
    }
    return { own, parts };
  }
}
