import type {
  Command,
  LeaseChange,
  LeaseReply,
  Outcome,
  Reply,
  Want,
  WantedMeter,
} from './command.ts';
import {
  amountOf,
  leasesOn,
  leftOn,
  unlimited,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
  type Rules,
  type View,
} from './rows.ts';

/**
 * Carries out a command on the rows of the view, or nothing of it. The same function decides in the database's
 * transaction, in memory, and in the model that proves it.
 */
export function decide(view: View, command: Command, rules: Rules): Reply {
  const refusal = refuse(view, command);
  if (refusal !== null) return refusal;
  const life = enter(view, command);
  for (const change of command.leases) {
    if (command.restates === 'no') giveBack(view, command.life, change);
    else state(view, command.life, change, command.restates === 'all');
  }
  if (command.restates === 'all') forgetUnstated(view, command);

  const outcomes = new Map<string, Outcome>();
  const recalledMeters = new Set<string>();
  const mustWait = isSettling(view, command.life, rules);
  for (const want of command.wants) {
    const outcome: Outcome = mustWait
      ? { kind: 'waits', isFirst: false }
      : decideWant(view, command.life, want, rules, recalledMeters);
    outcomes.set(want.id, outcome);
  }
  if (!mustWait) for (const change of command.leases) drawAhead(view, command.life, change, rules);

  life.number = command.number;
  life.seenAt = view.now;
  return {
    kind: 'done',
    generation: life.generation,
    leases: new Map(
      command.leases.map(({ meter }) => [meter, replyFor(view, meter, command.life)]),
    ),
    outcomes,
    recalled: [...recalledMeters],
    left: none,
  };
}

const none: ReadonlySet<string> = new Set();

/** Null if the command is to be carried out. */
function refuse(view: View, command: Command): Reply | null {
  const life = view.lives.get(command.life);
  if (life?.closed === true) return { kind: 'closed' };
  const isForgotten = life === undefined || life.number < command.doneNumber;
  if (command.restates !== 'all') {
    if (isForgotten || command.generation !== view.generation) return { kind: 'went-back' };
    // A recall that the database does not know.
    const isAhead = command.leases.some(
      ({ meter, answered }) => answered > view.meters.get(meter)!.recall,
    );
    if (isAhead) return { kind: 'went-back' };
    // Numbers in between: the command before it was never carried out, and this one does not state what it touched.
    if (command.restates === 'no' && life.number < command.number - 1) return { kind: 'went-back' };
  }
  if (life !== undefined && life.number >= command.number) {
    return { kind: 'stale', number: life.number };
  }
  return null;
}

function enter(view: View, command: Command): LifeRow {
  let life = view.lives.get(command.life);
  if (command.restates === 'all') {
    const isForgotten = life === undefined || life.number < command.doneNumber;
    // Once is enough: whoever knows another generation states everything anew.
    if (isForgotten && command.generation >= view.generation) {
      view.generation = command.generation + 1;
      view.generationAt = view.now;
    }
    if (life === undefined) {
      life = { number: 0, generation: view.generation, seenAt: view.now, closed: false };
      view.lives.set(command.life, life);
    }
    life.generation = command.isReplaying ? view.generation - 1 : view.generation;
  }
  return life!;
}

/** After the database went back, nobody draws until everybody has stated what they have. */
function isSettling({ lives, generation, generationAt, now }: View, own: string, rules: Rules) {
  if (now >= generationAt + rules.restateMs) return false;
  for (const [id, life] of lives) {
    if (id === own || life.closed || now - life.seenAt >= rules.silentMs) continue;
    if (life.generation < generation) return true;
  }
  return false;
}

/** A life without a lease has nothing idle, so it has answered every recall so far. */
function leaseOf(view: View, meter: string, life: string): LeaseRow {
  const leases = leasesOn(view, meter);
  let lease = leases.get(life);
  if (lease === undefined) {
    const { recall } = view.meters.get(meter)!;
    leases.set(life, (lease = { drawn: 0n, settled: 0n, answered: recall }));
  }
  return lease;
}

function giveBack(view: View, life: string, change: LeaseChange): void {
  const row = view.meters.get(change.meter)!;
  endShorts(row, life, change);
  if (change.isDropped) drop(view, change.meter, life);
  const lease = leasesOn(view, change.meter).get(life);
  if (lease === undefined) return;
  lease.drawn -= change.back;
  row.leased -= change.back;
  lease.answered = Math.max(lease.answered, change.answered);
}

function endShorts(row: MeterRow, life: string, { shorts }: LeaseChange): void {
  if (row.short?.life === life && !shorts.includes(row.short.id)) row.short = null;
}

/**
 * States what was drawn, whatever the last command did. Unless the database went back, that can only be less, or more by
 * what charges cost above their holds.
 */
function state(view: View, life: string, change: LeaseChange, isAll: boolean): void {
  const row = view.meters.get(change.meter)!;
  endShorts(row, life, change);
  const [short] = change.shorts;
  if (short !== undefined) row.short ??= { life, id: short };
  // Its requests ask again.
  if (row.ticket?.life === life) row.ticket = null;
  if (change.isDropped) drop(view, change.meter, life);
  if (!isAll && !leasesOn(view, change.meter).has(life)) return;
  const lease = leaseOf(view, change.meter, life);
  row.leased += change.drawn - lease.drawn;
  lease.drawn = change.drawn;
  lease.answered = change.answered;
}

function drop(view: View, meter: string, life: string): void {
  const leases = leasesOn(view, meter);
  const lease = leases.get(life);
  if (lease !== undefined) view.meters.get(meter)!.leased -= amountOf(lease);
  leases.delete(life);
}

/** What a life does not name any more was settled completely. */
function forgetUnstated(view: View, { life, leases }: Command): void {
  const statedMeters = new Set(leases.map(({ meter }) => meter));
  for (const meter of view.leases.keys()) if (!statedMeters.has(meter)) drop(view, meter, life);
}

function decideWant(
  view: View,
  life: string,
  want: Want,
  { ticketMs, silentMs }: Rules,
  recalledMeters: Set<string>,
): Outcome {
  const { id, amount, meters } = want;
  const owner = { life, id };
  const isMine = (ticket: MeterRow['ticket']): boolean =>
    ticket !== null && ticket.life === life && ticket.id === id;
  const end = (): void => {
    for (const { name } of meters) {
      const row = view.meters.get(name)!;
      if (isMine(row.ticket)) row.ticket = null;
    }
  };

  const short: string[] = [];
  let least = amount;
  /** By the first meter that has too little whatever comes back to it. */
  let refusal: Outcome | null = null;
  /** The first meter on which somebody may have something idle. */
  let unansweredMeter: string | null = null;
  /** The first meter on which somebody else draws first. */
  let behind: string | null = null;
  for (const { name, floor } of meters) {
    const row = view.meters.get(name)!;
    if (row.ticket !== null && !isMine(row.ticket) && row.ticket.until > view.now) {
      behind ??= name;
    }
    const remainder = leftOn(row, view.limits.get(name) ?? unlimited);
    if (remainder >= amount && remainder >= floor && remainder > 0n) continue;
    // One that was not called back yet may have something idle even if it answered an earlier recall.
    const idle = mostIdle(view, name, life, silentMs, isMine(row.ticket));
    if (idle > 0n) unansweredMeter ??= name;
    short.push(name);
    refusal ??= refusalFor(row, want, { name, floor }, remainder, idle);
    if (remainder < least) least = remainder;
  }

  // At once: who is certain to be refused must not keep others waiting.
  if (refusal !== null) {
    end();
    return refusal;
  }
  if (behind !== null) {
    if (!want.isLast) return { kind: 'waits', isFirst: false };
    return { kind: 'unanswered', meter: behind };
  }
  if (unansweredMeter !== null) {
    if (want.isLast) {
      end();
      return { kind: 'unanswered', meter: unansweredMeter };
    }
    for (const name of short) {
      const row = view.meters.get(name)!;
      if (isMine(row.ticket)) continue;
      row.recall += 1;
      row.ticket = { ...owner, until: view.now + ticketMs };
      // Its own idle part went back with this command.
      const own = leasesOn(view, name).get(life);
      if (own !== undefined) own.answered = row.recall;
      recalledMeters.add(name);
    }
    return { kind: 'waits', isFirst: true };
  }
  end();
  for (const { name } of meters) grant(view, name, life, least);
  for (const name of short) view.meters.get(name)!.short = owner;
  return { kind: 'granted', amount: least, shortOn: short };
}

/**
 * Null if the meter would admit the request, if only with a short hold, once others have given back what they have idle.
 * A short hold may have ended without a word of it until its life has answered.
 */
function refusalFor(
  { short }: MeterRow,
  { amount, isExact }: Want,
  { name: meter, floor }: Pick<WantedMeter, 'name' | 'floor'>,
  remainder: bigint,
  idle: bigint,
): Outcome | null {
  const most = remainder + idle;
  if (most <= 0n || most < floor) return { kind: 'refused', meter, least: 0n };
  const isShortTaken = short !== null && idle === 0n;
  if (most >= amount || !(isShortTaken || isExact)) return null;
  return { kind: 'refused', meter, least: isShortTaken ? most + 1n : amount };
}

/** What other live nodes have leased on the meter, of those that have not said that nothing of it is idle. */
function mostIdle(
  view: View,
  meter: string,
  own: string,
  silentMs: number,
  isCalled: boolean,
): bigint {
  const { recall } = view.meters.get(meter)!;
  let most = 0n;
  for (const [id, lease] of leasesOn(view, meter)) {
    if (id === own || amountOf(lease) <= 0n) continue;
    const life = view.lives.get(id);
    if (life === undefined || life.closed || view.now - life.seenAt >= silentMs) continue;
    if (!isCalled || lease.answered < recall) most += amountOf(lease);
  }
  return most;
}

function grant(view: View, meter: string, life: string, amount: bigint): void {
  view.meters.get(meter)!.leased += amount;
  leaseOf(view, meter, life).drawn += amount;
}

/** Ahead of need, a life gets its share of what is left, nothing of the floor, and nothing while somebody waits. */
function drawAhead(view: View, life: string, change: LeaseChange, rules: Rules): void {
  const row = view.meters.get(change.meter)!;
  if (change.ahead <= 0n || row.short !== null) return;
  if (row.ticket !== null && row.ticket.until > view.now) return;
  const remainder = leftOn(row, view.limits.get(change.meter) ?? unlimited) - change.floor;
  let live = 0n;
  for (const { closed, seenAt } of view.lives.values()) {
    if (!closed && view.now - seenAt < rules.silentMs) live += 1n;
  }
  const most = (remainder * rules.share) / (1_000n * (live > 0n ? live : 1n));
  const amount = change.ahead < most ? change.ahead : most;
  if (amount > 0n) grant(view, change.meter, life, amount);
}

function replyFor(view: View, meter: string, life: string): LeaseReply {
  const row = view.meters.get(meter)!;
  const { recall } = row;
  const isBeyond = leftOn(row, view.limits.get(meter) ?? unlimited) < 0n;
  const leases = leasesOn(view, meter);
  const lease = leases.get(life);
  if (lease === undefined || (lease.drawn === 0n && lease.settled === 0n)) {
    leases.delete(life);
    return { drawn: 0n, recall, answered: recall, isOver: true, isBeyond };
  }
  const { drawn, answered } = lease;
  return { drawn, recall, answered, isOver: amountOf(lease) === 0n, isBeyond };
}
