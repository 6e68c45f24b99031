import type { Command, LeaseChange, Reply, Want, WantedMeter } from '#leases/index.ts';

/** What a life knows of one of its leases. Its free part is its own to spend, without asking anybody. */
export interface Lease {
  /** Known to be drawn. The row of the database never has less, unless the database went back. */
  drawn: bigint;
  /** Of that, spent by requests that have ended, whether or not their rows have arrived. */
  charged: bigint;
  /** Of that, backing requests under way. */
  heldAmount: bigint;
  /** Of that, named in the command under way: not to be used until the reply. */
  frozen: bigint;
  /** The last recall that this life has heard of, and the last one it has answered. */
  recall: number;
  answered: number;
  /** Nothing of it is left, and everything drawn is settled. */
  isOver: boolean;
  /** As of its last command. */
  limit: bigint;
  /** Holds that have not ended, expired ones among them. */
  holds: number;
  /** By the clock of the book. */
  usedAt: number;
  /** More may be out than the limit: everything idle goes back, now and whenever a hold ends. */
  isBeyond: boolean;
}

export interface OpenHold {
  /** 0 once it has expired: nothing is held any more, but its charge may still come. */
  readonly amount: bigint;
  readonly isVoid: boolean;
  /** The meters whose leases back it. */
  readonly meters: readonly string[];
  readonly shortOn: readonly string[];
}

/** The leases of one life, in its own memory. */
export interface Book {
  readonly life: string;
  /** No other process spends: whole limits are leased. */
  readonly isSole: boolean;
  /** Milliseconds; set by the book's user. */
  now: number;
  /** The number of the last command sent, and of the last one known to be done. */
  sentNumber: number;
  doneNumber: number;
  generation: number;
  readonly leases: Map<string, Lease>;
  readonly holds: Map<string, OpenHold>;
  /** Those of them that are short. */
  readonly shorts: Map<string, OpenHold>;
  /** Meters whose lease has changed since it was last seen to have nothing that must go back. */
  readonly changed: Set<string>;
  /** Meters whose short hold has ended: the next command says so. */
  readonly shortsEnded: Set<string>;
  /** Meters that no command names for a while, because the last one failed there. */
  readonly resting: Set<string>;
  /**
   * What the command under way says, in case that it leaves meters out: ended short holds, and leases that it drops.
   */
  statedShorts: ReadonlySet<string>;
  droppedLeases: ReadonlyMap<string, Lease>;
  /** The limits of what it draws ahead of need. */
  aheadLimits: ReadonlyMap<string, bigint>;
  /** The command under way, or the one whose outcome is unknown. */
  command: Command | null;
  /** Whether the next command must state again what the last one touched, or everything. */
  restates: Command['restates'];
  /** The database went back in time, and gets its records again. */
  isReplaying: boolean;
  /** Meanwhile, everything is stated: the next command waits for the records. */
  isStated: boolean;
}

const nothing: ReadonlySet<string> = new Set();
const noLimits: ReadonlyMap<string, bigint> = new Map();

export function createBook(life: string, generation: number, isSole = false): Book {
  return {
    life,
    isSole,
    now: 0,
    sentNumber: 0,
    doneNumber: 0,
    generation,
    leases: new Map(),
    holds: new Map(),
    shorts: new Map(),
    changed: new Set(),
    shortsEnded: new Set(),
    resting: new Set(),
    statedShorts: nothing,
    droppedLeases: new Map(),
    aheadLimits: noLimits,
    command: null,
    restates: 'no',
    isReplaying: false,
    isStated: false,
  };
}

const rest = ({ drawn, charged, heldAmount, frozen }: Lease): bigint =>
  drawn - charged - heldAmount - frozen;

/** What the lease can back at once: nothing while what is idle must go back. */
export function freeOf(lease: Lease | undefined): bigint {
  return lease === undefined || isCalled(lease) || lease.isBeyond ? 0n : rest(lease);
}

const isCalled = ({ recall, answered }: Lease): boolean => recall > answered;

/**
 * Whether something of the lease must go back with the next command, or an answer must, or more was spent than drawn.
 */
export function mustReturn(lease: Lease): boolean {
  const remainder = rest(lease);
  return isCalled(lease) || remainder < 0n || (lease.isBeyond && remainder > 0n);
}

/**
 * Takes a hold from the leases, all of it or nothing.
 * @returns false if a lease is short, or was drawn for another limit: then the request must wait for a command.
 */
export function take(
  book: Book,
  { id, amount, meters }: Pick<Want, 'id' | 'amount' | 'meters'>,
): boolean {
  const leases: Lease[] = [];
  const names: string[] = [];
  for (const { name, floor, limit } of meters) {
    const lease = book.leases.get(name);
    if (lease?.limit !== limit) return false;
    const free = freeOf(lease);
    // With less than the floor in this lease, only the authority knows whether so much is left.
    if (free < amount || free < floor) return false;
    leases.push(lease);
    names.push(name);
  }
  for (const lease of leases) countHold(book, lease, amount);
  book.holds.set(id, { amount, isVoid: false, meters: names, shortOn: nowhere });
  return true;
}

const nowhere: readonly string[] = Object.freeze([]);

function countHold(book: Book, lease: Lease, amount: bigint): void {
  lease.heldAmount += amount;
  lease.holds += 1;
  lease.usedAt = book.now;
}

/** Opens the hold of a request that the authority has admitted. */
function openHold(
  book: Book,
  { id, meters }: Want,
  amount: bigint,
  shortOn: readonly string[],
): void {
  for (const { name, limit } of meters) {
    const lease = leaseOf(book, name);
    lease.limit = limit;
    countHold(book, lease, amount);
  }
  const openedHold = { amount, isVoid: false, meters: meters.map(({ name }) => name), shortOn };
  book.holds.set(id, openedHold);
  if (shortOn.length > 0) book.shorts.set(id, openedHold);
}

/** Ends what an open hold holds before its request has ended: it has been under way for too long. */
export function expire(book: Book, id: string): void {
  const hold = book.holds.get(id);
  if (hold === undefined) return;
  for (const meter of hold.meters) {
    const lease = book.leases.get(meter);
    if (lease !== undefined) lease.heldAmount -= hold.amount;
    book.changed.add(meter);
  }
  endShort(book, id, hold);
  book.holds.set(id, { ...hold, amount: 0n, isVoid: true, shortOn: nowhere });
}

function endShort(book: Book, id: string, { shortOn }: OpenHold): void {
  if (shortOn.length === 0) return;
  book.shorts.delete(id);
  for (const meter of shortOn) book.shortsEnded.add(meter);
}

/**
 * Ends a hold. A charge above it takes what is idle in the leases, never what backs other holds. Where that is too
 * little, more is spent than drawn: the next command draws the difference, whatever is left. It also says that a short
 * hold has ended, so the next one is granted when the cost of this one is known.
 * @returns by meter: the part of the charge that lies in a lease.
 */
export function end(book: Book, id: string, cost: bigint): Map<string, bigint> {
  const parts = new Map<string, bigint>();
  const hold = book.holds.get(id);
  if (hold === undefined) return parts;
  book.holds.delete(id);
  endShort(book, id, hold);
  for (const meter of hold.meters) {
    const lease = book.leases.get(meter);
    if (lease === undefined) {
      parts.set(meter, 0n);
      continue;
    }
    lease.heldAmount -= hold.amount;
    lease.holds -= 1;
    lease.usedAt = book.now;
    lease.charged += cost;
    book.changed.add(meter);
    parts.set(meter, cost);
  }
  return parts;
}

/**
 * A record that will never be in the database is not charged: its part of the leases is free again. It goes back
 * before it is used, since more may have been drawn for it than there was.
 */
export function returnLostCharge(book: Book, parts: ReadonlyMap<string, bigint>): void {
  for (const [meter, part] of parts) {
    const lease = book.leases.get(meter);
    if (lease === undefined) continue;
    lease.charged -= part;
    lease.isBeyond = !book.isSole;
    book.changed.add(meter);
  }
}

/** By meter: what requests under way hold. */
export function heldIn({ leases }: Book): Map<string, bigint> {
  const sums = new Map<string, bigint>();
  for (const [meter, { heldAmount }] of leases) if (heldAmount > 0n) sums.set(meter, heldAmount);
  return sums;
}

export interface Plan {
  readonly wants: readonly Want[];
  /** Meters whose idle money goes back. */
  readonly idle: Iterable<string>;
  /** Money wanted ahead of need. */
  readonly ahead: ReadonlyMap<string, Ahead>;
}

export interface Ahead extends Pick<WantedMeter, 'floor' | 'limit'> {
  readonly amount: bigint;
}

/** The next command; only one is under way at a time. */
export function compose(book: Book, plan: Plan): Command {
  book.sentNumber += 1;
  const common = {
    life: book.life,
    number: book.sentNumber,
    doneNumber: book.doneNumber,
    generation: book.generation,
    restates: book.restates,
    isReplaying: book.isReplaying,
  };
  const command: Command =
    book.restates === 'no'
      ? { ...common, leases: changes(book, plan), wants: plan.wants }
      : { ...common, leases: statements(book), wants: [] };
  book.command = command;
  return command;
}

function changes(book: Book, { wants, idle, ahead }: Plan): LeaseChange[] {
  const needs = new Map<string, bigint>();
  const wantedMeters = new Map<string, WantedMeter>();
  for (const { amount, meters } of wants) {
    for (const meter of meters) {
      needs.set(meter.name, (needs.get(meter.name) ?? 0n) + amount);
      wantedMeters.set(meter.name, meter);
    }
  }
  const returnedMeters = new Set(idle);
  for (const meter of calledBack(book)) returnedMeters.add(meter);
  const endedShorts = book.shortsEnded.difference(book.resting);
  const names = new Set([...needs.keys(), ...returnedMeters, ...ahead.keys(), ...endedShorts]);
  for (const meter of endedShorts) book.shortsEnded.delete(meter);
  const droppedLeases = new Map<string, Lease>();
  book.statedShorts = endedShorts;
  book.droppedLeases = droppedLeases;
  book.aheadLimits = new Map(Array.from(ahead, ([name, { limit }]) => [name, limit]));
  return [...names.difference(book.resting)].toSorted().map((meter) => {
    const lease = leaseOf(book, meter);
    const isWanted = needs.has(meter) || ahead.has(meter);
    const free = rest(lease);
    const isDropped = returnedMeters.has(meter) && lease.isOver && !isWanted && free === 0n;
    if (isDropped) {
      book.leases.delete(meter);
      droppedLeases.set(meter, lease);
    }
    const need = needs.get(meter) ?? 0n;
    const wantedMeter = wantedMeters.get(meter);
    const { floor = 0n, limit } = wantedMeter ?? ahead.get(meter) ?? {};
    // What a request needs of its own lease goes back and is drawn again, so that it waits holding nothing. So does the
    // floor, which must be left beside it.
    const neededAmount = wantedMeter === undefined ? 0n : need + wantedMeter.floor;
    // What was drawn for another limit may be more than there is. So may what the only process has spent above its holds.
    const isStale = lease.isBeyond || (limit !== undefined && limit !== lease.limit);
    const isAll = returnedMeters.has(meter) || isStale || free < neededAmount;
    const back = isAll ? free : neededAmount;
    lease.frozen += back;
    return {
      meter,
      drawn: 0n,
      back,
      ahead: returnedMeters.has(meter) ? 0n : (ahead.get(meter)?.amount ?? 0n),
      floor,
      answered: isAll ? lease.recall : lease.answered,
      isDropped,
      shorts: shortsOn(book, meter),
    };
  });
}

/** Meters whose leases the next command must name. */
export function* calledBack({ isSole, leases, changed, resting }: Book): Generator<string> {
  // Nothing else would call back.
  if (isSole) return;
  for (const meter of changed) {
    const lease = leases.get(meter);
    if (lease === undefined || !mustReturn(lease)) changed.delete(meter);
    else if (!resting.has(meter)) yield meter;
  }
}

/**
 * Statements make the outcome of the last command irrelevant, whatever it was and whenever it arrives. What it named as
 * given back counts as given back; what it would have drawn was not drawn.
 */
function statements(book: Book): LeaseChange[] {
  if (book.restates === 'all') forgetEmpty(book);
  book.aheadLimits = noLimits;
  const touchedMeters =
    book.restates === 'all'
      ? [...book.leases.keys()]
      : (book.command?.leases.map(({ meter }) => meter) ?? []);
  return touchedMeters.toSorted().map((meter) => {
    const lease = book.leases.get(meter);
    if (lease !== undefined) {
      lease.drawn -= lease.frozen;
      lease.frozen = 0n;
      book.changed.add(meter);
      // Recalls start from zero in a database that went back.
      if (book.restates === 'all') lease.answered = lease.recall = 0;
    }
    return {
      meter,
      drawn: lease?.drawn ?? 0n,
      back: 0n,
      ahead: 0n,
      floor: 0n,
      answered: lease?.answered ?? 0,
      isDropped: lease === undefined,
      shorts: shortsOn(book, meter),
    };
  });
}

/**
 * A lease that was dropped and has drawn nothing since is not stated. A database that went back may know what it
 * settled before it was dropped: beside a statement of nothing drawn, that would count as money which does not exist.
 */
function forgetEmpty({ leases }: Book): void {
  for (const [meter, { drawn, frozen, charged, holds }] of leases) {
    if (drawn === frozen && charged === 0n && holds === 0) leases.delete(meter);
  }
}

/** The lease on the meter, empty if there was none. */
export function leaseOf(book: Book, meter: string): Lease {
  let lease = book.leases.get(meter);
  if (lease === undefined) {
    lease = {
      drawn: 0n,
      charged: 0n,
      heldAmount: 0n,
      frozen: 0n,
      recall: 0,
      answered: 0,
      isOver: false,
      limit: 0n,
      holds: 0,
      usedAt: book.now,
      isBeyond: false,
    };
    book.leases.set(meter, lease);
  }
  return lease;
}

function shortsOn(book: Book, meter: string): string[] {
  const ids: string[] = [];
  for (const [id, { shortOn }] of book.shorts) if (shortOn.includes(meter)) ids.push(id);
  return ids;
}

/** Takes note of what the authority did. For any other reply than `done`, see the callers of `lose`. */
export function learn(book: Book, reply: Extract<Reply, { kind: 'done' }>): void {
  const command = book.command!;
  book.command = null;
  book.doneNumber = command.number;
  book.generation = reply.generation;
  book.restates = command.isReplaying ? 'all' : 'no';
  book.isStated = command.isReplaying;
  for (const change of command.leases) {
    if (reply.left.has(change.meter)) {
      takeBack(book, change);
      continue;
    }
    const lease = book.leases.get(change.meter);
    if (lease === undefined) continue;
    const { drawn, recall, answered, isOver, isBeyond } = reply.leases.get(change.meter)!;
    lease.frozen -= change.back;
    lease.drawn = drawn;
    lease.limit = book.aheadLimits.get(change.meter) ?? lease.limit;
    lease.answered = answered;
    if (recall > lease.recall) lease.recall = recall;
    lease.isOver = isOver;
    lease.isBeyond = isBeyond;
    book.changed.add(change.meter);
    // An expired hold may still be charged.
    const isUsed = book.isSole || lease.charged > 0n || lease.holds > 0;
    if (isOver && !isUsed) book.leases.delete(change.meter);
  }
  for (const want of command.wants) {
    const outcome = reply.outcomes.get(want.id)!;
    if (outcome.kind !== 'granted') continue;
    openHold(book, want, outcome.amount, outcome.shortOn);
  }
}

/** The command under way was not carried out, for sure: the next one has its number, and says again what it said. */
export function undo(book: Book): void {
  const { leases } = book.command!;
  book.command = null;
  book.sentNumber -= 1;
  for (const change of leases) takeBack(book, change);
}

/** As if the command had not named the meter. */
function takeBack(book: Book, { meter, back }: LeaseChange): void {
  const droppedLease = book.droppedLeases.get(meter);
  if (droppedLease !== undefined) book.leases.set(meter, { ...droppedLease });
  if (book.statedShorts.has(meter)) book.shortsEnded.add(meter);
  leaseOf(book, meter).frozen -= back;
  book.changed.add(meter);
}

/** The outcome of the command under way is unknown, and may come true later. */
export function lose(book: Book): void {
  if (book.restates === 'no') book.restates = 'touched';
}

/**
 * The database forgot what this life did, or may have. Everything is stated again, at once and when the records that it
 * lost are there again.
 */
export function wentBack(book: Book): void {
  book.restates = 'all';
  book.isReplaying = true;
  book.isStated = false;
}

/** The records are there again, or are no longer waited for. */
export function endReplay(book: Book): void {
  book.isReplaying = false;
  book.isStated = false;
}

/** Whether something must be stated again now. */
export function mustState({ restates, isReplaying, isStated }: Book): boolean {
  return restates !== 'no' && !(isReplaying && isStated);
}

/** Others wait for what is idle on the meter. */
export function hear(book: Book, meter: string, recall: number): void {
  const lease = book.leases.get(meter);
  if (lease === undefined || recall <= lease.recall) return;
  lease.recall = recall;
  book.changed.add(meter);
}

/** @param meters those on which more is out than the limit */
export function hearBeyond(book: Book, meters: ReadonlySet<string>): void {
  for (const [meter, lease] of book.leases) {
    lease.isBeyond = meters.has(meter);
    if (lease.isBeyond) book.changed.add(meter);
  }
}
