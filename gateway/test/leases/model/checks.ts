import { amountOf, type Command, type Reply, type Want } from '#leases/index.ts';
import type { Bounds, Node, World } from './world.ts';

export class Violation extends Error {}

/** By meter: what is spent or held of the limit, without what the rules except: charges above their holds, late ones. */
export function takenOf(world: World): Map<string, bigint> {
  const taken = new Map<string, bigint>();
  const add = (meter: string, amount: bigint) =>
    taken.set(meter, (taken.get(meter) ?? 0n) + amount);
  for (const meter of world.view.meters.keys()) add(meter, 0n);
  const records = new Map(world.rows);
  for (const node of world.nodes) {
    for (const row of node.journal) records.set(row.id, row);
    if (!node.isUp) continue;
    for (const book of [node.book, node.old]) {
      if (book === null || world.aged.has(book.life)) continue;
      for (const { amount, meters } of book.holds.values())
        for (const meter of meters) add(meter, amount);
    }
  }
  for (const { life, parts } of records.values()) {
    if (!world.aged.has(life)) for (const [meter, part] of parts) add(meter, part);
  }
  for (const amount of world.tasks.values()) add('m', amount);
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
    if (reply.outcomes.get(want.id)?.kind === 'granted') checkFloor(before, world, want, bounds);
  }
}

/** @throws Violation */
export function check(world: World, bounds: Bounds): void {
  const { view } = world;
  const wasBack = world.used.back > 0;
  // What others draw before the database is known to have gone back may be granted twice. One node draws nothing then.
  const isExact = !wasBack || (bounds.waitsForRecords === true && world.nodes.length === 1);
  for (const [meter, taken] of takenOf(world)) {
    if (isExact && taken > highest(bounds, meter)) {
      throw new Violation(`${taken} of ${highest(bounds, meter)} is spent or held on ${meter}`);
    }
    const row = view.meters.get(meter)!;
    let leased = 0n;
    for (const lease of view.leases.get(meter)!.values()) leased += amountOf(lease);
    if (leased !== row.leased)
      throw new Violation(`${meter} has leases of ${leased}, not ${row.leased}`);
    let spent = 0n;
    let inLeases = 0n;
    for (const { life, cost, parts } of world.rows.values()) {
      const part = parts.get(meter);
      if (part === undefined) continue;
      spent += cost;
      if (!world.aged.has(life)) inLeases += part;
    }
    if (spent !== row.spent)
      throw new Violation(`${row.spent} is counted as spent on ${meter}, not ${spent}`);
    if (isExact && inLeases + row.leased + row.held > highest(bounds, meter)) {
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

function checkBook({ view, aged }: World, { book }: Node): void {
  if (aged.has(book.life)) return;
  for (const [meter, { drawn, charged, held, frozen }] of book.leases) {
    const row = view.leases.get(meter)!.get(book.life);
    if (drawn - charged - held - frozen < 0n)
      throw new Violation(`${book.life} uses more of ${meter} than it drew`);
    if (drawn - frozen > (row?.drawn ?? 0n)) {
      throw new Violation(
        `${book.life} believes in ${drawn - frozen} of ${meter}, the row has ${row?.drawn ?? 0n}`,
      );
    }
  }
}
