import { decide, leftOn, unleasedLife, type Command, type Reply } from '#leases/index.ts';
import {
  compose,
  createBook,
  end,
  hear,
  hearBeyond,
  learn,
  lose,
  endReplay,
  wentBack,
  type Book,
} from '#limits/leases/book.ts';
import { release, settle } from './settle.ts';
import {
  begin,
  rules,
  stopsAt,
  type Bounds,
  type MutableView,
  type Mutation,
  type Node,
  type Row,
  type World,
} from './world.ts';

/** What happens when a command reaches the database. */
export function execute(world: World, sent: Command, { command: change, rows }: Mutation): Reply {
  const command = change === undefined ? sent : change(sent, world);
  rows?.(world, command);
  return decide(world.view, command, rules);
}

export function send(
  { view }: World,
  node: Node,
  isAhead: bigint,
  isIdle: boolean,
  mutation: Mutation,
  low: readonly string[] = [],
): void {
  const { book } = node;
  const wants = node.queue;
  const ahead = new Map(
    isAhead === 0n
      ? []
      : wants.flatMap(({ meters }) =>
          meters.map((meter) => [meter.name, { ...meter, amount: isAhead }] as const),
        ),
  );
  for (const name of low) ahead.set(name, { name, amount: isAhead, floor: 1n, limit: 0n });
  const idle = isIdle ? [...book.leases.keys()] : [];
  const command = compose(book, { wants, idle, ahead });
  mutation.book?.(book);
  node.flight = { command, sentAt: view.now, reply: null };
}

export function receive(world: World, node: Node, mutation: Mutation): void {
  const { reply, command, sentAt } = node.flight!;
  node.flight = null;
  if (reply === null) return;
  const { book } = node;
  if (reply.kind === 'closed') {
    closeOwn(world, node);
  } else if (reply.kind === 'went-back') {
    noteLoss(world, node, mutation);
  } else if (reply.kind === 'done') {
    if (isTooOld(world, sentAt, mutation)) {
      lose(book);
      return;
    }
    learn(book, reply);
    if (mutation.keepsBeyond === true) hearBeyond(book, new Set());
    node.seenAt = Math.max(node.seenAt, sentAt);
    for (const { id } of command.wants) {
      if (['waits', 'left'].includes(reply.outcomes.get(id)!.kind)) continue;
      node.queue = node.queue.filter((want) => want.id !== id);
    }
  } else lose(book);
}

/** Whether a life whose last accepted sign was sent then must admit nothing. */
export function isTooOld({ view }: World, sentAt: number, { ignoresAge }: Mutation): boolean {
  return view.now - sentAt >= stopsAt && ignoresAge !== true;
}

/** Requests of the closed life go on; what they cost is late. */
function closeOwn(world: World, node: Node): void {
  node.old = node.book.holds.size > 0 ? node.book : node.old;
  begin(world, node);
}

function noteLoss(world: World, node: Node, { skipsReplay }: Mutation): void {
  wentBack(node.book);
  if (skipsReplay === true) endReplay(node.book);
}

/** The records of the time that was lost are applied once more. */
export function replay(world: World, node: Node): void {
  for (const row of node.journal) insert(world, row, {});
  for (let life = 1; life < node.lives; life += 1) closeLife(world, `${node.name}${life}`);
  endReplay(node.book);
}

/** The usage row, and the money with it, in one transaction. */
export function insert(world: World, row: Row, { countsTwice }: Partial<Mutation>): void {
  if (world.rows.has(row.id) && countsTwice !== true) return;
  settle(world.view, row);
  world.rows.set(row.id, row);
}

export function closeLife(world: World, name: string): void {
  const life = world.view.lives.get(name);
  if (life === undefined) return;
  life.closed = true;
  release(world.view, name);
}

export function look(world: World, node: Node, mutation: Mutation): void {
  const { view } = world;
  const { book } = node;
  const life = view.lives.get(book.life);
  if (life?.closed === true) {
    closeOwn(world, node);
    return;
  }
  const isAhead = Array.from(book.leases).some(
    ([meter, { recall }]) => recall > view.meters.get(meter)!.recall,
  );
  const isKnown = life !== undefined && life.number >= book.doneNumber && !isAhead;
  if (!isKnown || view.generation !== book.generation) {
    if (book.restates !== 'all') noteLoss(world, node, mutation);
    return;
  }
  life.seenAt = view.now;
  node.seenAt = view.now;
  if (mutation.neverHears === true) return;
  for (const [meter, row] of view.meters) hear(book, meter, row.recall);
  if (mutation.keepsBeyond !== true) hearBeyond(book, beyondIn(view));
}

/** Meters on which more is out than the limit. */
export function beyondIn({ meters, limits }: MutableView): Set<string> {
  const beyond = new Set<string>();
  for (const [meter, row] of meters) if (leftOn(row, limits.get(meter)!) < 0n) beyond.add(meter);
  return beyond;
}

export function kill(next: World, self: Node): void {
  self.isUp = false;
  if (self.flight?.reply === null) next.late.push(self.flight.command);
  self.flight = null;
  self.queue = [];
  self.old = null;
  self.unleased = createBook(unleasedLife, 0);
  self.book = createBook(self.book.life, 0);
  self.kept = [];
}

export function chargeFor(cost: Bounds['costs'][number], amount: bigint): bigint {
  return { nothing: 0n, less: 1n, hold: amount, more: amount + 1n }[cost];
}

export function finish(
  node: Node,
  book: Book,
  id: string,
  amount: bigint,
  cost: Bounds['costs'][number],
  { ignoresOver, settlesUnleased }: Mutation,
): void {
  const charge = chargeFor(cost, amount);
  const shortOn = book.holds.get(id)?.shortOn ?? [];
  const over = charge > amount ? charge - amount : 0n;
  const parts = end(book, id, charge);
  if (ignoresOver === true) {
    for (const [meter, part] of parts) {
      book.leases.get(meter)!.charged -= over;
      parts.set(meter, part - over);
    }
  }
  if (node.old?.holds.size === 0) node.old = null;
  if (charge === 0n) return;
  let { life } = book;
  if (life === unleasedLife) {
    for (const meter of parts.keys()) parts.set(meter, charge);
    if (settlesUnleased === true) life = node.book.life;
  }
  node.journal.push({ id, life, cost: charge, over, shortOn, parts });
}
