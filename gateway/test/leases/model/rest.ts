import type { Want } from '#leases/index.ts';
import { calledBack, expire, take } from '#limits/leases/book.ts';
import {
  beyondIn,
  closeLife,
  execute,
  finish,
  insert,
  look,
  receive,
  replay,
  send,
} from './acts.ts';
import { Violation } from './checks.ts';
import { ask, create, hear as hearOfTask } from './tasks.ts';
import { copy, rules, type Bounds, type Mutation, type Node, type World } from './world.ts';

/**
 * When everything has come to rest, whoever asks alone is admitted to all that is left, and nothing stays leased.
 * @throws Violation
 */
export function checkRest(world: World, bounds: Bounds, mutation: Mutation): void {
  const still = copy(world);
  while (still.late.length > 0) execute(still, still.late.shift()!, mutation);
  for (const node of still.nodes) {
    node.isAsleep = false;
    node.queue = [];
    if (node.isUp) continue;
    node.creations = [];
    // A folder that is gone for good.
    node.journal = node.journal.filter(({ id }) => still.rows.has(id));
  }
  const settleDown = () => {
    for (let round = 0; round < 4; round += 1) {
      for (const node of still.nodes) if (node.isUp) work(still, node, mutation);
    }
  };
  settleDown();
  for (const node of still.nodes) {
    if (!node.isUp) continue;
    for (const book of [node.book, node.old, node.unleased]) {
      if (book === null) continue;
      for (const [id, { amount }] of book.holds) {
        if (bounds.most.expire === undefined) finish(node, book, id, amount, 'nothing', mutation);
        // Requests that never end hold nothing either, sooner or later.
        else if (mutation.neverExpires !== true) expire(book, id);
      }
    }
  }
  for (let tick = 0; tick < 6; tick += 1) {
    still.view.now += 1;
    settleDown();
    for (const [name, { seenAt, closed }] of still.view.lives) {
      if (closed || still.view.now - seenAt < rules.ageMs || mutation.neverFrees === true) continue;
      still.aged = new Set([...still.aged, name]);
      closeLife(still, name);
    }
  }
  for (const meter of beyondIn(still.view)) {
    const { leased } = still.view.meters.get(meter)!;
    if (leased > 0n) throw new Violation(`${leased} of ${meter} stay leased beyond its limit`);
  }
  for (const asker of still.nodes)
    if (asker.isUp) askAlone(copy(still), asker.name, bounds, mutation);
}

/** One turn of a healthy node: it sends what it has to send, hears the reply, looks, and applies its journal. */
function work(world: World, node: Node, mutation: Mutation): void {
  if (node.flight !== null) {
    const { command, sentAt, reply } = node.flight;
    node.flight = { command, sentAt, reply: reply ?? execute(world, command, mutation) };
    receive(world, node, mutation);
  }
  look(world, node, mutation);
  for (const row of node.journal) insert(world, row, {});
  for (let life = 1; life < node.lives; life += 1) closeLife(world, `${node.name}${life}`);
  const { book } = node;
  for (const creation of node.creations) {
    if (creation.state === 'under way') create(world, node, creation, mutation);
  }
  for (const creation of node.creations) hearOfTask(node, creation);
  if (mutation.neverAsks !== true) {
    for (const creation of node.kept) ask(world, node, creation);
  }
  if (book.isReplaying) replay(world, node);
  const mustAnswer = calledBack(book).next().done !== true;
  if (
    book.restates === 'no' &&
    !mustAnswer &&
    book.shortsEnded.size === 0 &&
    node.queue.length === 0
  )
    return;
  send(world, node, 0n, false, mutation);
  work(world, node, mutation);
}

function askAlone(world: World, name: string, bounds: Bounds, mutation: Mutation): void {
  const node = world.nodes.find((one) => one.name === name)!;
  const [[meter, limit]] = [...world.view.limits] as [[string, bigint]];
  const row = world.view.meters.get(meter)!;
  const left = limit - row.spent - row.held;
  if (left < bounds.floor || left <= 0n) return;
  const want: Want = {
    id: 'alone',
    amount: left,
    meters: [{ name: meter, floor: bounds.floor, limit: 0n }],
    isLast: false,
    isExact: false,
  };
  if (take(node.book, want)) return;
  node.queue.push(want);
  for (let round = 0; round < 6 && node.queue.length > 0; round += 1) {
    send(world, node, 0n, false, mutation);
    node.flight = { ...node.flight!, reply: execute(world, node.flight!.command, mutation) };
    receive(world, node, mutation);
    for (const other of world.nodes) if (other.isUp && other !== node) work(world, other, mutation);
  }
  const hold = node.book.holds.get('alone');
  if (hold === undefined)
    throw new Violation(`${name} asks alone for the ${left} left and is not admitted`);
  if (hold.amount !== left)
    throw new Violation(`${name} asks alone for ${left} and gets ${hold.amount}`);
}
