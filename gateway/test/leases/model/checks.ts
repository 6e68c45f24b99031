import { amountOf, type Command, type Reply, type Want } from '#leases/index.ts';
import type { Bounds, Node, Row, World } from './world.ts';

export class Violation extends Error {}

/** In the database, or still in a journal. */
function recordsOf({ rows, nodes }: World): Iterable<Row> {
  const records = new Map(rows);
  for (const { journal } of nodes) for (const row of journal) records.set(row.id, row);
  return records.values();
}

/** By meter: what is spent or held of the limit, without what the rules except: charges above their holds, late ones. */
export function takenOf(world: World): Map<string, bigint> {
  const taken = new Map<string, bigint>();
  const add = (meter: string, amount: bigint) =>
    taken.set(meter, (taken.get(meter) ?? 0n) + amount);
  for (const meter of world.view.meters.keys()) add(meter, 0n);
  for (const node of world.nodes) {
    if (!node.isUp) continue;
    for (const book of [node.book, node.old]) {
      if (book === null || world.aged.has(book.life)) continue;
      for (const { amount, meters } of book.holds.values())
        for (const meter of meters) add(meter, amount);
    }
  }
  for (const { life, cost, over, parts } of recordsOf(world)) {
    if (world.aged.has(life)) continue;
    const most = cost - over;
    for (const [meter, part] of parts) add(meter, part < most ? part : most);
  }
  for (const { amount, meters } of world.tasks.values()) {
    for (const meter of meters) add(meter, amount);
  }
  for (const node of world.nodes) {
    for (const { life, amount, parts, state } of node.creations) {
      if (state !== 'under way') continue;
      // Once its lease is gone, it cannot be created any more.
      for (const meter of parts.keys()) {
        if (world.view.leases.get(meter)!.has(life)) add(meter, amount);
      }
    }
  }
  return taken;
}

const highest = (bounds: Bounds, meter: string): bigint => {
  const limit = bounds.limits[meter]!;
  return bounds.newLimit !== undefined && bounds.newLimit > limit ? bounds.newLimit : limit;
};

export function checkFloor(
  before: Map<string, bigint>,
  _: World,
  want: Want,
  bounds: Bounds,
): void {
  for (const { name, floor } of want.meters) {
    if (highest(bounds, name) - before.get(name)! < floor) {
      throw new Violation(`${want.id} is admitted below the floor of ${name}`);
    }
  }
}

export function checkGrants(
  before: Map<string, bigint>,
  world: World,
  { wants }: Command,
  reply: Reply,
  bounds: Bounds,
): void {
  if (reply.kind !== 'done') return;
  for (const want of wants) {
    const outcome = reply.outcomes.get(want.id);
    if (outcome?.kind !== 'granted') continue;
    checkFloor(before, world, want, bounds);
    if (want.isExact && outcome.amount !== want.amount) {
      throw new Violation(`the task ${want.id} holds ${outcome.amount} of ${want.amount}`);
    }
    for (const meter of outcome.shortOn) {
      if (outcome.amount > leftFor(world, meter, before.get(meter)!, bounds)) {
        throw new Violation(`${want.id} holds what an earlier short hold on ${meter} has cost`);
      }
    }
  }
}

/** What is left for a short hold beside what the short holds before it have cost. */
function leftFor(world: World, meter: string, taken: bigint, bounds: Bounds): bigint {
  let over = 0n;
  for (const row of recordsOf(world)) {
    if (row.shortOn.includes(meter) && !world.aged.has(row.life)) over += row.over;
  }
  return highest(bounds, meter) - taken - over;
}

/** @throws Violation */
export function check(world: World, bounds: Bounds): void {
  const { view } = world;
  const wasBack = world.used.back > 0;
  // What others draw before the database is known to have gone back may be granted twice. One node draws nothing then.
  const isExact = !wasBack || (bounds.waitsForRecords === true && world.nodes.length === 1);
  for (const [meter, taken] of takenOf(world)) {
    if (isExact && taken > highest(bounds, meter) + world.reopened) {
      throw new Violation(`${taken} of ${highest(bounds, meter)} is spent or held on ${meter}`);
    }
    const row = view.meters.get(meter)!;
    let leased = 0n;
    for (const lease of view.leases.get(meter)!.values()) leased += amountOf(lease);
    if (leased !== row.leased)
      throw new Violation(`${meter} has leases of ${leased}, not ${row.leased}`);
    let spent = 0n;
    let inLeases = 0n;
    let over = 0n;
    for (const { parts, over: more } of recordsOf(world)) {
      if (parts.has(meter)) over += more;
    }
    for (const { life, cost, parts } of world.rows.values()) {
      const part = parts.get(meter);
      if (part === undefined) continue;
      spent += cost;
      if (!world.aged.has(life)) inLeases += part;
    }
    if (spent !== row.spent)
      throw new Violation(`${row.spent} is counted as spent on ${meter}, not ${spent}`);
    if (
      isExact &&
      inLeases + row.leased + row.held >
        highest(bounds, meter) + over + world.forgiven + world.reopened
    ) {
      throw new Violation(`${meter} is leased beyond its limit`);
    }
    checkShorts(world, meter);
  }
  if (!wasBack) for (const node of world.nodes) if (node.isUp) checkBook(world, node);
}

/** A life that was freed admits nothing more. */
export function checkAge(before: World, { nodes, aged }: World): void {
  for (const [at, { book }] of nodes.entries()) {
    if (!aged.has(book.life) || !before.aged.has(book.life)) continue;
    for (const id of book.holds.keys()) {
      if (!before.nodes[at]!.book.holds.has(id))
        throw new Violation(`${book.life} admits ${id} after it was freed`);
    }
  }
}

function checkShorts(world: World, meter: string): void {
  let shorts = 0;
  for (const { isUp, book } of world.nodes) {
    if (!isUp || world.aged.has(book.life)) continue;
    for (const { shortOn } of book.holds.values()) if (shortOn.includes(meter)) shorts += 1;
  }
  if (shorts > 1) throw new Violation(`${shorts} short holds are in force on ${meter}`);
}

function checkBook({ view, aged }: World, { book, journal }: Node): void {
  if (aged.has(book.life)) return;
  for (const [meter, { drawn, charged, heldAmount, frozen }] of book.leases) {
    const row = view.leases.get(meter)!.get(book.life);
    let over = 0n;
    for (const record of journal) if (record.life === book.life) over += record.over;
    if (drawn - charged - heldAmount - frozen < -over)
      throw new Violation(`${book.life} uses more of ${meter} than it drew`);
    // Less than 0 is drawn by the command under way.
    const known = frozen > 0n ? drawn - frozen : drawn;
    if (known > (row?.drawn ?? 0n)) {
      throw new Violation(
        `${book.life} believes in ${known} of ${meter}, the row has ${row?.drawn ?? 0n}`,
      );
    }
  }
}
