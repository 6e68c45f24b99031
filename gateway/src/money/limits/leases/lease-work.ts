import type { Command, Want, WantedMeter } from '#leases/index.ts';
import type { HoldDecision, HoldRequest } from '../money.ts';
import {
  calledBack,
  compose,
  freeOf,
  learn,
  lose,
  mustState,
  undo,
  type Ahead,
  type Book,
} from './book.ts';
import { leaseRules } from './lease-rules.ts';
import { LeaseLife, type LifeOptions } from './lease-life.ts';
import type { Pace } from './pace.ts';
import { unavailable, type WaitingRequests } from './waiting.ts';

export interface LeaseWorkParts {
  readonly pace: Pace;
  readonly waiting: WaitingRequests;
  /** Holds what the leases back at once; null: they do not. */
  readonly takeNow: (want: Want, request: HoldRequest) => HoldDecision | null;
  /** Opens the hold that the authority has granted. */
  readonly openHold: (request: HoldRequest, amount: bigint) => HoldDecision;
  /** Holds what no lease backs, because the authority is unreachable; null: that is not allowed. */
  readonly holdUnleased: (request: HoldRequest) => HoldDecision | null;
}

/** The commands of this node to the authority, one at a time: what makes them necessary, and what follows from the replies. */
export class LeaseWork {
  readonly life: LeaseLife;
  readonly #options: LifeOptions;
  readonly #parts: LeaseWorkParts;
  /** Meters whose lease runs low. */
  readonly #low = new Map<string, WantedMeter>();
  /** Meters whose lease was not used for long. */
  #idle = new Set<string>();
  #awayUntil = -Infinity;
  /** When the first command was sent that failed, by the monotonic clock; null: the last one succeeded. */
  #failingSince: number | null = null;
  #working: Promise<void> | null = null;
  #wake: NodeJS.Timeout | null = null;
  #isClosed = false;

  constructor(options: LifeOptions, parts: LeaseWorkParts) {
    this.#options = options;
    this.#parts = parts;
    this.life = new LeaseLife(options, () => this.beginIfAny());
  }

  get isAway(): boolean {
    return this.hasFailed && this.#options.monotonic() < this.#awayUntil + leaseRules.recentMs;
  }

  get hasFailed(): boolean {
    return this.#failingSince !== null;
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  /** After a failure, the database is not asked for a moment. */
  get isPaused(): boolean {
    return this.#options.monotonic() < this.#awayUntil;
  }

  /** It failed so shortly ago that it may only be restarting: what needs it waits. */
  get mayRestart(): boolean {
    const since = this.#failingSince;
    return since !== null && this.#options.monotonic() < since + leaseRules.restartMs;
  }

  /** The leases on these meters that run low are filled up ahead of need, by commands that follow. */
  fillUp(meters: readonly WantedMeter[]): void {
    const { pace } = this.#parts;
    const leases = this.life.book?.leases;
    for (const meter of meters) {
      const { name } = meter;
      const isLow = pace.isLow(name, freeOf(leases?.get(name)));
      if (isLow && pace.mayDraw(name)) this.#low.set(name, meter);
    }
    if (this.#low.size > 0 && !this.isPaused) this.begin();
  }

  /** What is left in the lease on this meter goes back with the next command. */
  noteIdle(meter: string): void {
    this.#idle.add(meter);
  }

  /** Begins if there is something to do. */
  beginIfAny(): void {
    if (this.#hasWork()) this.begin();
  }

  begin(): void {
    if (this.#working !== null) return;
    // What comes in this turn of the event loop goes into one command.
    this.#working = new Promise<void>((resolve) => setImmediate(resolve))
      .then(() => this.#workOff())
      .finally(() => {
        this.#working = null;
        if (this.#hasWork() && !this.isPaused) this.begin();
        else this.beginLater();
      });
  }

  /** Returns what is idle. */
  async close(): Promise<void> {
    const { book } = this.life;
    this.#low.clear();
    if (book !== null) this.#idle = new Set(book.leases.keys());
    this.begin();
    await this.#working;
    this.#isClosed = true;
    if (this.#wake !== null) clearTimeout(this.#wake);
  }

  #hasWork(): boolean {
    const { book } = this.life;
    const { waiting } = this.#parts;
    if (book === null) return !waiting.isEmpty || this.#low.size > 0;
    if (book.restates !== 'no') return mustState(book);
    return (
      !book.shortsEnded.isSubsetOf(book.resting) ||
      this.#low.size > 0 ||
      this.#idle.size > 0 ||
      calledBack(book).next().done !== true ||
      waiting.dueWants().length > 0
    );
  }

  async #workOff(): Promise<void> {
    const { life } = this;
    while (this.#hasWork()) {
      const startedAt = this.#options.monotonic();
      try {
        await this.#once(life.book ?? (await life.begin()));
      } catch (error) {
        const { log, monotonic } = this.#options;
        if (!this.hasFailed) {
          log.error('cannot lease funds', error, { component: 'money' });
        }
        this.#failingSince ??= startedAt;
        const { mayRestart } = this;
        this.#awayUntil = monotonic() + (mayRestart ? leaseRules.restartAskMs : leaseRules.awayMs);
        const { book } = life;
        if (book !== null && book.command !== null) lose(book);
        const { waiting, holdUnleased } = this.#parts;
        waiting.tryAll((_, request) => holdUnleased(request));
        if (mayRestart) waiting.waitAnew();
        else waiting.reject(unavailable(error));
        return;
      }
    }
  }

  /** Begins when the first waiting request is due and the pause after a failure is over. */
  beginLater(): void {
    const { waiting } = this.#parts;
    if (this.#isClosed || waiting.isEmpty) return;
    if (this.#wake !== null) clearTimeout(this.#wake);
    const pause = Math.max(waiting.nextDue, this.#awayUntil) - this.#options.monotonic();
    this.#wake = setTimeout(() => this.begin(), Math.max(1, pause));
  }

  /** One command, and what follows from its reply. */
  async #once(own: Book): Promise<void> {
    const { waiting, pace, takeNow, openHold } = this.#parts;
    const { life } = this;
    waiting.tryAll(takeNow);
    if (own.restates === 'no' && !this.#hasWork()) return;
    const dueWants = own.restates === 'no' ? waiting.dueWants() : [];
    const sentAt = life.moment();
    const command = this.#plan(own, dueWants);
    const reply = await this.#options.authority.run(command);
    // The life was closed meanwhile: so are the leases that this command drew.
    if (life.book !== own) return;
    if (reply.kind === 'closed') life.beginAgain();
    else if (reply.kind === 'went-back') life.noteLoss(own);
    else if (reply.kind === 'failed') this.#rest(own, reply.meters, reply.error);
    else if (reply.kind === 'stale' || life.isTooOld(sentAt)) lose(own);
    else {
      const { log } = this.#options;
      if (this.hasFailed) log.info('leasing funds again', { component: 'money' });
      this.#failingSince = null;
      learn(own, reply);
      life.noteSign(sentAt);
      for (const { meter } of command.leases) {
        if (pace.isLow(meter, freeOf(own.leases.get(meter)))) pace.drewTooLittle(meter);
      }
      waiting.decide(command, reply.outcomes, openHold);
    }
  }

  #plan(own: Book, wants: readonly Want[]): Command {
    const { pace } = this.#parts;
    const ahead = new Map<string, Ahead>();
    for (const { amount, meters } of wants) {
      for (const meter of meters) {
        const { name, floor, limit } = meter;
        pace.noteUse(meter, amount);
        ahead.set(name, { amount: pace.ahead(name), floor, limit });
      }
    }
    for (const [name, { floor, limit }] of this.#low.entries().take(leaseRules.wantsPerCommand)) {
      if (!ahead.has(name)) ahead.set(name, { amount: pace.ahead(name), floor, limit });
      this.#low.delete(name);
    }
    const idle = this.#idle;
    this.#idle = new Set();
    return compose(own, { wants, idle, ahead });
  }

  /** The others continue. Only the payers of these meters wait, until the reason may be gone. */
  #rest(own: Book, meters: ReadonlySet<string>, error: Error): void {
    const detail = [...meters].join(', ');
    this.#options.log.error('cannot lease funds for some accounts', error, {
      component: 'money',
      detail,
    });
    undo(own);
    for (const meter of meters) own.resting.add(meter);
    this.#parts.waiting.reject(unavailable(error), meters);
    setTimeout(() => {
      for (const meter of meters) own.resting.delete(meter);
      if (this.life.book === own && !this.#isClosed) this.beginIfAny();
    }, leaseRules.awayMs).unref();
  }
}
