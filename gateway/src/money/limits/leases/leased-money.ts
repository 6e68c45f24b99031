import { setTimeout as wait } from 'node:timers/promises';
import { GatewayError } from '#errors/index.ts';
import type { Authority, Command, LeasedPart, Want } from '#leases/index.ts';
import { createRepeatedWork, type Logger, type RepeatedWork } from '#observability/index.ts';
import {
  unlimited,
  type ChargedLease,
  type HoldDecision,
  type HoldRequest,
  type MeterState,
  type Money,
} from '../money.ts';
import {
  calledBack,
  compose,
  createBook,
  end,
  expire,
  freeOf,
  returnLostCharge,
  hear,
  hearBeyond,
  heldIn,
  learn,
  lose,
  mustReturn,
  mustState,
  endReplay,
  take,
  undo,
  wentBack,
  type Book,
} from './book.ts';
import { createExpiry, type Expiry } from './expiry.ts';
import { createKeptHolds, type KeptHolds } from './kept-holds.ts';
import { leaseRules } from './lease-rules.ts';
import { createPace, type Pace } from './pace.ts';
import { createRefusals, type Refusals } from './refusals.ts';
import { createUnwritten, type Unwritten } from './unwritten.ts';
import { createWaiting, type WaitingRequests } from './waiting.ts';

export interface LeasedMoneyOptions {
  readonly authority: Authority;
  /** Names a new life of this node, and remembers the name. */
  readonly newLife: () => string;
  /** Writes records to the database again that it has lost. Never rejects. */
  readonly replay: () => Promise<void>;
  /** Called when the last request of a life has ended that was closed before. */
  readonly onEnded: (life: string) => void;
  /** After this time without a sign of life, the leases are freed. Milliseconds. */
  readonly ageMs: number;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** Milliseconds of the monotonic clock: what was recorded before it is in the database. */
  readonly appliedUntil: () => number;
  readonly log: Pick<Logger, 'info' | 'warn' | 'error'>;
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

/** When something was sent, by both clocks: one stands still while the machine sleeps, the other may be set back. */
interface Moment {
  readonly monotonic: number;
  readonly wall: number;
}

const unavailable = (cause?: unknown): GatewayError =>
  new GatewayError('unavailable', { retryAfter: 1, cause });

/** Holds money that this node has leased. See docs/decisions/0027-leases.md. */
export class LeasedMoney implements Money {
  readonly #options: LeasedMoneyOptions;
  readonly #stopMs: number;
  readonly #pace: Pace;
  readonly #refusals: Refusals;
  readonly #expiry: Expiry;
  readonly #unwritten: Unwritten;
  readonly #keptHolds: KeptHolds;
  readonly #waiting: WaitingRequests;
  /** The book of each open hold: an earlier life's may be among them. */
  readonly #holders = new Map<string, Book>();
  /** Meters whose lease runs low, and their floors. */
  readonly #low = new Map<string, bigint>();
  /** Meters whose lease was not used for long. */
  #idle = new Set<string>();
  /** The leases of the present life; null: no life has begun. */
  #book: Book | null = null;
  #lastSign: Moment = { monotonic: -Infinity, wall: -Infinity };
  #awayUntil = -Infinity;
  #hasFailed = false;
  #working: Promise<void> | null = null;
  #wake: NodeJS.Timeout | null = null;
  #isClosed = false;
  readonly #looks: RepeatedWork;
  readonly #looking: NodeJS.Timeout;
  /** Many changes in a row are one look. */
  #soon: NodeJS.Timeout | null = null;
  readonly #listening: ReturnType<Authority['listen']>;

  constructor(options: LeasedMoneyOptions) {
    const { authority, monotonic, appliedUntil, log } = options;
    this.#options = options;
    this.#stopMs = options.ageMs * 0.9;
    this.#pace = createPace(monotonic, leaseRules.idleMs);
    this.#refusals = createRefusals(monotonic);
    this.#expiry = createExpiry(monotonic());
    this.#unwritten = createUnwritten({ authority, monotonic, appliedUntil });
    this.#keptHolds = createKeptHolds(authority, monotonic);
    this.#waiting = createWaiting({
      refusals: this.#refusals,
      monotonic,
      unavailable,
      rules: leaseRules,
    });
    this.#looks = createRepeatedWork((detail) =>
      log.warn('cannot receive lease notifications', { component: 'money', detail }),
    );
    this.#looking = setInterval(() => this.#lookNow(), leaseRules.lookEveryMs).unref();
    this.#listening = authority.listen({
      onRecall: (meter, recall) => this.#hearRecall(meter, recall),
      onChange: () => this.#limitsChanged(),
    });
  }

  get isAway(): boolean {
    return this.#hasFailed && this.#options.monotonic() < this.#awayUntil + leaseRules.recentMs;
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get hasLeases(): boolean {
    if (this.#book === null || this.#isTooOld(this.#lastSign)) return false;
    for (const [meter, lease] of this.#book.leases) {
      const free = freeOf(lease);
      if (free > 0n && free >= this.#pace.lastHold(meter)) return true;
    }
    return false;
  }

  hold(request: HoldRequest): HoldDecision | Promise<HoldDecision> {
    const { id, amount, isExact = false } = request;
    this.#sweep();
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
    const isResting = meters.some(({ name }) => this.#book?.resting.has(name) === true);
    if (this.#isClosed || isResting || this.#options.monotonic() < this.#awayUntil) {
      return Promise.reject(unavailable());
    }
    const later = this.#waiting.add(want, request);
    this.#work();
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
    this.#unwritten.begin(id, endedHold.own, endedHold.parts);
    return leaseOn(meters, endedHold);
  }

  commitHold(id: string, cost: bigint): void {
    this.#endHold(id, 0n);
    this.#unwritten.end(id, cost > 0n);
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
    this.#workOn();
  }

  // Its transaction tells all processes.
  async taskEnding(): Promise<void> {}
  taskEnded(): void {}

  /** The database will never accept the record of a charge that lay in these leases. */
  reject(leasedParts: readonly LeasedPart[]): void {
    const book = this.#book;
    if (book === null) return;
    const parts = leasedParts.filter(({ life }) => life === book.life);
    returnLostCharge(book, new Map(parts.map(({ meter, part }) => [meter, part])));
  }

  async read(meter: string): Promise<MeterState | null> {
    this.#sweep();
    const own = this.#book;
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
    clearInterval(this.#looking);
    if (this.#soon !== null) clearTimeout(this.#soon);
    this.#listening.close();
    if (this.#book !== null) this.#idle = new Set(this.#book.leases.keys());
    this.#work();
    await this.#working;
    this.#isClosed = true;
    if (this.#wake !== null) clearTimeout(this.#wake);
  }

  #moment(): Moment {
    return { monotonic: this.#options.monotonic(), wall: this.#options.now() };
  }

  #isTooOld(sentAt: Moment): boolean {
    const { monotonic, now } = this.#options;
    return monotonic() - sentAt.monotonic >= this.#stopMs || now() - sentAt.wall >= this.#stopMs;
  }

  #sweep(): void {
    this.#expiry.sweep(this.#options.monotonic(), (id) => {
      const own = this.#holders.get(id);
      if (own !== undefined) expire(own, id);
    });
  }

  #openHold({ id, expiresAt }: HoldRequest, amount: bigint): HoldDecision {
    const { monotonic, now } = this.#options;
    this.#holders.set(id, this.#book!);
    this.#expiry.add(id, monotonic() + expiresAt - now());
    return { isHeld: true, amount };
  }

  #takeNow(want: Want, request: HoldRequest): HoldDecision | null {
    const book = this.#book;
    if (book === null || this.#isTooOld(this.#lastSign) || !take(book, want)) return null;
    const pace = this.#pace;
    for (const { name, floor } of want.meters) {
      pace.noteUse(name, want.amount);
      if (freeOf(book.leases.get(name)) * 2n < pace.ahead(name) && pace.mayDraw(name)) {
        this.#low.set(name, floor);
      }
    }
    if (this.#low.size > 0) this.#work();
    return this.#openHold(request, want.amount);
  }

  #endHold(id: string, cost: bigint): Ended | null {
    const own = this.#holders.get(id);
    const openHold = own?.holds.get(id);
    if (own === undefined || openHold === undefined) return null;
    this.#holders.delete(id);
    this.#expiry.remove(id);
    const parts = end(own, id, cost);
    for (const meter of openHold.meters) this.#refusals.forget(meter);
    if (own !== this.#book) {
      this.#endIfDone(own);
      return { own, parts };
    }
    const isCalled = openHold.meters.some((meter) => {
      const lease = own.leases.get(meter);
      return lease !== undefined && mustReturn(lease);
    });
    if (own.shortsEnded.size > 0 || !this.#waiting.isEmpty || isCalled) {
      this.#waiting.hurry();
      this.#work();
    }
    return { own, parts };
  }

  async #begin(): Promise<Book> {
    const life = this.#options.newLife();
    const sentAt = this.#moment();
    const generation = await this.#options.authority.begin(life);
    this.#lastSign = sentAt;
    this.#book = createBook(life, generation);
    return this.#book;
  }

  /** The present life was closed: what its requests cost is late, and nothing of its leases is left. */
  #beginAgain(): void {
    this.#options.log.warn(
      'the leases of this process were freed while it could not reach the database',
      { component: 'money' },
    );
    this.#endIfDone(this.#book!);
    this.#book = null;
  }

  #endIfDone({ life, holds }: Book): void {
    if (holds.size === 0) this.#options.onEnded(life);
  }

  /** The database went back in time: nothing is drawn until it has its records again, or for some seconds. */
  #noteLoss(own: Book): void {
    if (own.restates === 'all') return;
    this.#options.log.error(
      'the database went back in time; writing the leases of this process again',
      null,
      { component: 'money' },
    );
    wentBack(own);
    const timeout = wait(leaseRules.restateMs, undefined, { ref: false });
    void Promise.race([this.#options.replay(), timeout]).then(() => {
      endReplay(own);
      this.#workOn();
    });
  }

  #hasWork(): boolean {
    const book = this.#book;
    if (book === null) return !this.#waiting.isEmpty;
    if (book.restates !== 'no') return mustState(book);
    return (
      !book.shortsEnded.isSubsetOf(book.resting) ||
      this.#low.size > 0 ||
      this.#idle.size > 0 ||
      calledBack(book).next().done !== true ||
      this.#waiting.dueWants().length > 0
    );
  }

  #workOn(): void {
    if (this.#hasWork()) this.#work();
  }

  #work(): void {
    if (this.#working !== null) return;
    // What comes in this turn of the event loop goes into one command.
    this.#working = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#workOff())
      .finally(() => {
        this.#working = null;
        if (this.#hasWork() && this.#options.monotonic() >= this.#awayUntil) this.#work();
        else this.#wakeLater();
      });
  }

  async #workOff(): Promise<void> {
    while (this.#hasWork()) {
      try {
        await this.#once(this.#book ?? (await this.#begin()));
      } catch (error) {
        const { log, monotonic } = this.#options;
        if (!this.#hasFailed) {
          log.error('cannot lease funds', error, { component: 'money' });
        }
        this.#hasFailed = true;
        this.#awayUntil = monotonic() + leaseRules.awayMs;
        const book = this.#book;
        if (book !== null && book.command !== null) lose(book);
        this.#waiting.reject(unavailable(error));
        return;
      }
    }
  }

  #wakeLater(): void {
    if (this.#isClosed || this.#waiting.isEmpty) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    const pause = this.#waiting.nextDue - this.#options.monotonic();
    this.#wake = setTimeout(() => this.#work(), Math.max(1, pause));
  }

  /** One command, and what follows from its reply. */
  async #once(own: Book): Promise<void> {
    this.#waiting.tryAll((want, request) => this.#takeNow(want, request));
    if (own.restates === 'no' && !this.#hasWork()) return;
    const dueWants = own.restates === 'no' ? this.#waiting.dueWants() : [];
    const sentAt = this.#moment();
    const command = this.#plan(own, dueWants);
    const reply = await this.#options.authority.run(command);
    // The life was closed meanwhile: so are the leases that this command drew.
    if (this.#book !== own) return;
    if (reply.kind === 'closed') this.#beginAgain();
    else if (reply.kind === 'went-back') this.#noteLoss(own);
    else if (reply.kind === 'failed') this.#rest(own, reply.meters, reply.error);
    else if (reply.kind === 'stale' || this.#isTooOld(sentAt)) lose(own);
    else {
      const { log } = this.#options;
      if (this.#hasFailed) log.info('leasing funds again', { component: 'money' });
      this.#hasFailed = false;
      learn(own, reply);
      this.#lastSign = sentAt;
      const pace = this.#pace;
      for (const { meter } of command.leases) {
        if (freeOf(own.leases.get(meter)) * 2n < pace.ahead(meter)) pace.drewTooLittle(meter);
      }
      this.#waiting.decide(command, reply.outcomes, (request, amount) =>
        this.#openHold(request, amount),
      );
    }
  }

  #plan(own: Book, wants: readonly Want[]): Command {
    const pace = this.#pace;
    const ahead = new Map<string, { amount: bigint; floor: bigint }>();
    for (const { amount, meters } of wants) {
      for (const { name, floor } of meters) {
        pace.noteUse(name, amount);
        ahead.set(name, { amount: pace.ahead(name), floor });
      }
    }
    for (const [name, floor] of this.#low) ahead.set(name, { amount: pace.ahead(name), floor });
    this.#low.clear();
    const idle = this.#idle;
    this.#idle = new Set();
    return compose(own, { wants, idle, ahead });
  }

  /** The others go on. Only the payers of these meters wait, until the reason may be gone. */
  #rest(own: Book, meters: ReadonlySet<string>, error: Error): void {
    const detail = [...meters].join(', ');
    this.#options.log.error('cannot lease funds for some accounts', error, {
      component: 'money',
      detail,
    });
    undo(own);
    for (const meter of meters) own.resting.add(meter);
    this.#waiting.reject(unavailable(error), meters);
    setTimeout(() => {
      for (const meter of meters) own.resting.delete(meter);
      if (this.#book === own && !this.#isClosed) this.#workOn();
    }, leaseRules.awayMs).unref();
  }

  #lookNow(): void {
    this.#soon = null;
    this.#look().then(this.#looks.reportSuccess, this.#looks.reportFailure);
  }

  async #look(): Promise<void> {
    if (this.#book === null || this.#isClosed) return;
    this.#sweep();
    await this.#unwritten.settle();
    await this.#keptHolds.settle();
    const own = this.#book;
    if (own === null) return;
    const sentAt = this.#moment();
    // A command may be done before the reply is read, which then knows less than this life.
    const { doneNumber, generation } = own;
    const recalls = new Map(Array.from(own.leases, ([meter, { recall }]) => [meter, recall]));
    const reply = await this.#options.authority.look(own.life, heldIn(own));
    if (this.#book !== own || own.generation !== generation) return;
    if (reply.state === 'closed') this.#beginAgain();
    else if (reply.state === 'unknown' || reply.number < doneNumber) this.#noteLoss(own);
    else {
      this.#lastSign = sentAt;
      for (const [meter, recall] of reply.recalls) {
        if (recall < (recalls.get(meter) ?? 0)) this.#noteLoss(own);
        hear(own, meter, recall);
      }
      hearBeyond(own, reply.beyond);
      for (const [meter, lease] of own.leases) {
        if (this.#pace.isIdle(meter) && (lease.isOver || freeOf(lease) > 0n)) this.#idle.add(meter);
      }
    }
    this.#workOn();
  }

  #hearRecall(meter: string, recall: number): void {
    if (this.#book !== null) hear(this.#book, meter, recall);
    this.#refusals.forget(meter);
    this.#waiting.hurry(meter);
    this.#workOn();
  }

  #limitsChanged(): void {
    this.#refusals.clear();
    this.#soon ??= setTimeout(() => this.#lookNow(), leaseRules.gatherChangesMs).unref();
  }
}
