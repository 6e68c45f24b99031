import { setTimeout as wait } from 'node:timers/promises';
import { GatewayError } from '#errors/index.ts';
import type { Authority, LeasedPart, Want } from '#leases/index.ts';
import { createRepeatedWork, type Logger } from '#observability/index.ts';
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
  giveUp,
  hear,
  hearBeyond,
  heldIn,
  learn,
  lose,
  mustReturn,
  mustState,
  replayed,
  take,
  undo,
  wentBack,
  type Book,
} from './book.ts';
import { createExpiry } from './expiry.ts';
import { createKeptHolds } from './kept-holds.ts';
import { createPace } from './pace.ts';
import { createRefusals } from './refusals.ts';
import { createUnwritten } from './unwritten.ts';
import { createWaiting } from './waiting.ts';

/** Milliseconds. */
export const leaseRules = Object.freeze({
  /** Twice the patience: the last command of a waiting request finds its ticket in force. */
  ticketMs: 500,
  silentMs: 30_000,
  restateMs: 5_000,
  /** How long the other nodes may take to give back what is idle. */
  patienceMs: 250,
  /** The longest wait of a request, behind others whose turn comes first. */
  longestMs: 2_000,
  /** A request that waits asks again after this time, if no notification comes. */
  askAgainMs: 50,
  wantsPerCommand: 64,
  lookEveryMs: 2_000,
  /** How long changes of limits are gathered before the next look. */
  gatherChangesMs: 20,
  /** A lease that was not used for this time goes back. */
  idleMs: 10_000,
  /** How long the database is not asked after it failed; about a meter, after a command failed there. */
  awayMs: 1_000,
  /** A failure that is older says nothing about the database any more. */
  recentMs: 10_000,
});

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

export interface LeasedMoney extends Money {
  /** The database will never accept the record of a charge that lay in these leases. */
  reject(parts: readonly LeasedPart[]): void;
  /** Returns what is idle. */
  close(): Promise<void>;
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

/** Holds money that this node has leased. See docs/decisions/0027-leases.md. */
export function createLeasedMoney(options: LeasedMoneyOptions): LeasedMoney {
  const { authority, newLife, now, monotonic, appliedUntil, log } = options;
  const pace = createPace(monotonic, leaseRules.idleMs);
  const refusals = createRefusals(monotonic);
  const expiry = createExpiry(monotonic());
  /** The book of each open hold: an earlier life's may be among them. */
  const holders = new Map<string, Book>();
  const unwritten = createUnwritten({ authority, monotonic, appliedUntil });
  const keptHolds = createKeptHolds(authority, monotonic);
  /** Meters whose lease runs low, and their floors. */
  const looks = createRepeatedWork((detail) =>
    log.warn('this node does not hear of leases of others', { component: 'money', detail }),
  );
  const low = new Map<string, bigint>();
  let idle = new Set<string>();
  let book: Book | null = null;
  let lastSign: Moment = { monotonic: -Infinity, wall: -Infinity };
  let awayUntil = -Infinity;
  /** Whether the last command that was sent failed. */
  let hasFailed = false;
  let working: Promise<void> | null = null;
  let wake: NodeJS.Timeout | null = null;
  let isClosed = false;

  const moment = (): Moment => ({ monotonic: monotonic(), wall: now() });
  const stopMs = options.ageMs * 0.9;
  const isTooOld = (sent: Moment): boolean =>
    monotonic() - sent.monotonic >= stopMs || now() - sent.wall >= stopMs;
  const unavailable = (cause?: unknown): GatewayError =>
    new GatewayError('unavailable', { retryAfter: 1, cause });
  const waiting = createWaiting({ refusals, monotonic, unavailable, rules: leaseRules });

  const opened = ({ id, expiresAt }: HoldRequest, amount: bigint): HoldDecision => {
    holders.set(id, book!);
    expiry.add(id, monotonic() + expiresAt - now());
    return { held: true, amount };
  };

  const sweep = (): void => {
    expiry.sweep(monotonic(), (id) => {
      const own = holders.get(id);
      if (own !== undefined) expire(own, id);
    });
  };

  const takeNow = (want: Want, request: HoldRequest): HoldDecision | null => {
    if (book === null || isTooOld(lastSign) || !take(book, want)) return null;
    for (const { name, floor } of want.meters) {
      pace.used(name, want.amount);
      if (freeOf(book.leases.get(name)) * 2n < pace.ahead(name) && pace.mayDraw(name)) {
        low.set(name, floor);
      }
    }
    if (low.size > 0) work();
    return opened(request, want.amount);
  };

  const begin = async (): Promise<Book> => {
    const life = newLife();
    const sent = moment();
    const generation = await authority.begin(life);
    lastSign = sent;
    book = createBook(life, generation);
    return book;
  };

  /** The present life was closed: what its requests cost is late, and nothing of its leases is left. */
  const beginAgain = (): void => {
    log.warn('the leases of this process were freed while it could not reach the database', {
      component: 'money',
    });
    endIfDone(book!);
    book = null;
  };

  const endIfDone = ({ life, holds }: Book): void => {
    if (holds.size === 0) options.onEnded(life);
  };

  /** The database went back in time: nothing is drawn until it has its records again, or for some seconds. */
  const noteLoss = (own: Book): void => {
    if (own.restates === 'all') return;
    log.error('the database went back in time; writing the leases of this process anew', null, {
      component: 'money',
    });
    wentBack(own);
    const timeout = wait(leaseRules.restateMs, undefined, { ref: false });
    void Promise.race([options.replay(), timeout]).then(() => {
      replayed(own);
      if (hasWork()) work();
    });
  };

  const hasWork = (): boolean => {
    if (book === null) return !waiting.isEmpty;
    if (book.restates !== 'no') return mustState(book);
    return (
      !book.shortsEnded.isSubsetOf(book.resting) ||
      low.size > 0 ||
      idle.size > 0 ||
      calledBack(book).next().done !== true ||
      waiting.due().length > 0
    );
  };

  const work = (): void => {
    if (working !== null) return;
    // What comes in this turn of the event loop goes into one command.
    working = new Promise<void>((resolve) => setImmediate(resolve)).then(workOff).finally(() => {
      working = null;
      if (hasWork() && monotonic() >= awayUntil) work();
      else wakeLater();
    });
  };

  const workOff = async (): Promise<void> => {
    while (hasWork()) {
      try {
        await once(book ?? (await begin()));
      } catch (error) {
        if (!hasFailed) {
          log.error('the database does not lease money', error, {
            component: 'money',
          });
        }
        hasFailed = true;
        awayUntil = monotonic() + leaseRules.awayMs;
        if (book !== null && book.command !== null) lose(book);
        waiting.reject(unavailable(error));
        return;
      }
    }
  };

  /** The others go on. Only the payers of these meters wait, until the reason may be gone. */
  const rest = (own: Book, meters: ReadonlySet<string>, error: Error): void => {
    const detail = [...meters].join(', ');
    log.error('the database does not lease money of some payers', error, {
      component: 'money',
      detail,
    });
    undo(own);
    for (const meter of meters) own.resting.add(meter);
    waiting.reject(unavailable(error), meters);
    setTimeout(() => {
      for (const meter of meters) own.resting.delete(meter);
      if (book === own && !isClosed && hasWork()) work();
    }, leaseRules.awayMs).unref();
  };

  const plan = (own: Book, wants: readonly Want[]) => {
    const ahead = new Map<string, { amount: bigint; floor: bigint }>();
    for (const { amount, meters } of wants) {
      for (const { name, floor } of meters) {
        pace.used(name, amount);
        ahead.set(name, { amount: pace.ahead(name), floor });
      }
    }
    for (const [name, floor] of low) ahead.set(name, { amount: pace.ahead(name), floor });
    low.clear();
    const returned = idle;
    idle = new Set();
    return compose(own, { wants, idle: returned, ahead });
  };

  /** One command, and what follows from its reply. */
  const once = async (own: Book): Promise<void> => {
    waiting.tryAll(takeNow);
    if (own.restates === 'no' && !hasWork()) return;
    const due = own.restates === 'no' ? waiting.due() : [];
    const sent = moment();
    const command = plan(own, due);
    const reply = await authority.run(command);
    // The life was closed meanwhile: so are the leases that this command drew.
    if (book !== own) return;
    if (reply.kind === 'closed') {
      beginAgain();
      return;
    }
    if (reply.kind === 'went-back') {
      noteLoss(own);
      return;
    }
    if (reply.kind === 'failed') {
      rest(own, reply.meters, reply.error);
      return;
    }
    if (reply.kind === 'stale' || isTooOld(sent)) {
      lose(own);
      return;
    }
    if (hasFailed) log.info('the database leases money again', { component: 'money' });
    hasFailed = false;
    learn(own, reply);
    lastSign = sent;
    for (const { meter } of command.leases) {
      if (freeOf(own.leases.get(meter)) * 2n < pace.ahead(meter)) pace.drewTooLittle(meter);
    }
    waiting.decide(command, reply.outcomes, opened);
  };

  const wakeLater = (): void => {
    if (isClosed || waiting.isEmpty) return;
    if (wake !== null) clearTimeout(wake);
    wake = setTimeout(work, Math.max(1, waiting.nextDue - monotonic()));
  };

  const hold: LeasedMoney['hold'] = (request) => {
    const { id, amount, isExact = false } = request;
    sweep();
    const before = holders.get(id)?.holds.get(id);
    if (before?.isVoid === false) return { held: true, amount: before.amount };
    if (before !== undefined) endHold(id, 0n);
    const meters = request.meters.filter(({ limit }) => limit !== unlimited);
    if (meters.length === 0) return { held: true, amount };
    const want: Want = { id, amount, meters, isLast: false, isExact };
    const taken = takeNow(want, request);
    if (taken !== null) return taken;
    const denied = refusals.of(request);
    if (denied !== null) return { held: false, denied };
    const isResting = meters.some(({ name }) => book?.resting.has(name) === true);
    if (isClosed || isResting || monotonic() < awayUntil) return Promise.reject(unavailable());
    const decided = waiting.add(want, request);
    work();
    return decided;
  };

  const endHold = (id: string, cost: bigint): Ended | null => {
    const own = holders.get(id);
    const open = own?.holds.get(id);
    if (own === undefined || open === undefined) return null;
    holders.delete(id);
    expiry.remove(id);
    const parts = end(own, id, cost);
    for (const meter of open.meters) refusals.forget(meter);
    if (own !== book) endIfDone(own);
    const isCalled = open.meters.some((meter) => {
      const lease = own.leases.get(meter);
      return lease !== undefined && mustReturn(lease);
    });
    if (own === book && (own.shortsEnded.size > 0 || !waiting.isEmpty || isCalled)) {
      waiting.hurry();
      work();
    }
    return { own, parts };
  };

  const look = async (): Promise<void> => {
    if (book === null || isClosed) return;
    sweep();
    await unwritten.settle();
    await keptHolds.settle();
    const own = book;
    const sent = moment();
    // A command may be done before the reply is read, which then knows less than this life.
    const { known, generation } = own;
    const recalled = new Map(Array.from(own.leases, ([meter, { recall }]) => [meter, recall]));
    const { state, number, recalls, beyond } = await authority.look(own.life, heldIn(own));
    if (book !== own || own.generation !== generation) return;
    if (state === 'closed') beginAgain();
    else if (state === 'unknown' || number < known) noteLoss(own);
    else {
      lastSign = sent;
      for (const [meter, recall] of recalls) {
        if (recall < (recalled.get(meter) ?? 0)) noteLoss(own);
        hear(own, meter, recall);
      }
      hearBeyond(own, beyond);
      for (const [meter, lease] of own.leases) {
        if (pace.isIdle(meter) && (lease.isOver || freeOf(lease) > 0n)) idle.add(meter);
      }
    }
    if (hasWork()) work();
  };

  const lookNow = (): void => {
    soon = null;
    look().then(looks.reportSuccess, looks.reportFailure);
  };
  const looking = setInterval(lookNow, leaseRules.lookEveryMs).unref();
  /** Many changes in a row are one look. */
  let soon: NodeJS.Timeout | null = null;

  const listening = authority.listen({
    onRecall(meter, recall) {
      if (book !== null) hear(book, meter, recall);
      refusals.forget(meter);
      waiting.hurry(meter);
      if (hasWork()) work();
    },
    onChange() {
      refusals.clear();
      soon ??= setTimeout(lookNow, leaseRules.gatherChangesMs).unref();
    },
  });

  return {
    get isAway() {
      return hasFailed && monotonic() < awayUntil + leaseRules.recentMs;
    },
    get hasFailed() {
      return hasFailed;
    },
    get hasLeases() {
      if (book === null || isTooOld(lastSign)) return false;
      for (const [meter, lease] of book.leases) {
        const free = freeOf(lease);
        if (free > 0n && free >= pace.lastHold(meter)) return true;
      }
      return false;
    },
    hold,
    charge([id = '', ...drawn], meters, cost) {
      // What was drawn later backs the charge too.
      for (const more of drawn) endHold(more, 0n);
      const ended = endHold(id, cost);
      if (ended === null) return null;
      unwritten.begin(id, ended.own, ended.parts);
      return leaseOn(meters, ended);
    },
    commitHold(id, spent) {
      endHold(id, 0n);
      unwritten.end(id, spent > 0n);
    },
    keep(id, meters) {
      const open = holders.get(id)?.holds.get(id);
      if (open?.isVoid === true) throw unavailable();
      const ended = endHold(id, open?.amount ?? 0n);
      if (ended === null) return null;
      keptHolds.begin(id, ended.own, ended.parts);
      return leaseOn(meters, ended);
    },
    kept(id, outcome) {
      keptHolds.end(id, outcome);
      if (hasWork()) work();
    },
    // Its transaction tells all processes.
    taskEnding: async () => {},
    taskEnded() {},
    reject(leased) {
      const parts = leased.filter(({ life }) => life === book?.life);
      if (book !== null) giveUp(book, new Map(parts.map(({ meter, part }) => [meter, part])));
    },
    async read(meter): Promise<MeterState | null> {
      sweep();
      const own = book;
      try {
        const { spent, held, settled } = await authority.read(meter, own?.life ?? null);
        const lease = own?.leases.get(meter);
        if (lease === undefined) return { spent, held };
        return { spent: spent + lease.charged - settled, held: held + lease.held };
      } catch {
        return null;
      }
    },
    async close() {
      clearInterval(looking);
      if (soon !== null) clearTimeout(soon);
      listening.close();
      if (book !== null) idle = new Set(book.leases.keys());
      work();
      await working;
      isClosed = true;
      if (wake !== null) clearTimeout(wake);
    },
  };
}
