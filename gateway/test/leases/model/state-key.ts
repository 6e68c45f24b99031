import { unleasedLife, type Command, type Reply } from '#leases/index.ts';
import type { Book } from '#limits/leases/book.ts';
import { rules, stopsAt, type MutableView, type World } from './world.ts';

/* States that differ only in how far clocks and counters have run are one state: keys have differences, never counts. */

interface Base {
  readonly now: number;
  readonly number: (life: string) => number;
  readonly recall: (meter: string) => number;
}

const texts = new WeakMap<object, string>();

/** @param text is computed once for each object, which never changes */
function cached<Value extends object>(value: Value, compute: (value: Value) => string): string {
  let text = texts.get(value);
  if (text === undefined) texts.set(value, (text = compute(value)));
  return text;
}

/** Older recalls differ no more. */
const ago = (past: number, now: number, most: number) => Math.max(past - now, -most);

function viewText(view: MutableView, base: Base): string {
  let text = `${view.generation},${ago(view.generationAt, base.now, rules.restateMs)}`;
  for (const [name, { spent, leased, held, recall, ticket, short }] of view.meters) {
    text += `|${name} ${spent} ${leased} ${held} ${recall - base.recall(name)}`;
    if (ticket !== null) text += `t${ticket.life}${ticket.id}${ago(ticket.until, base.now, 0)}`;
    if (short !== null) text += `s${short.life}${short.id}`;
    text += `:${view.limits.get(name)}`;
    const leases = Array.from(view.leases.get(name)!, ([life, { drawn, settled, answered }]) => {
      return `${life} ${drawn} ${settled} ${ago(answered, base.recall(name), 3)}`;
    });
    text += leases.toSorted().join();
  }
  for (const [name, { number, generation, seenAt, closed }] of view.lives) {
    const seen = ago(seenAt, base.now, rules.ageMs);
    text += `|${name} ${number - base.number(name)} ${generation} ${closed ? '' : seen}`;
  }
  return text;
}

function bookText(book: Book, base: Base): string {
  const first = base.number(book.life);
  let text = `${book.life} ${book.sentNumber - first} ${book.doneNumber - first} ${book.generation} ${book.restates}`;
  text += ` ${book.isReplaying} ${book.isStated}`;
  for (const [name, lease] of book.leases) {
    text += `|${name} ${lease.drawn} ${lease.charged} ${lease.heldAmount} ${lease.frozen} ${lease.isOver}`;
    text += ` ${lease.isBeyond}`;
    text += ` ${ago(lease.recall, base.recall(name), 3)} ${ago(lease.answered, base.recall(name), 3)}`;
  }
  for (const [id, hold] of book.holds) {
    text += `|${id}`;
    text += cached(
      hold,
      ({ amount, meters, shortOn }) => `${amount}${meters.join()}/${shortOn.join()}`,
    );
  }
  text += `|${[...book.shortsEnded].join()}`;
  // They matter while it is open whether the command leaves a meter out.
  if (book.command === null) return text;
  return `${text}|${[...book.statedShorts].join()}|${[...book.droppedLeases.keys()].join()}`;
}

function commandText(command: Command, base: Base): string {
  const first = base.number(command.life);
  // What was overtaken does nothing, however long ago that was.
  let text = `${Math.max(command.number - first, 0)} ${ago(command.doneNumber, first, 2)}`;
  text += cached(command, ({ life, generation, restates, isReplaying, wants, leases }) => {
    const asked = wants.map(({ id, isLast }) => `${id}${isLast}`);
    const changes = leases.map(
      ({ meter, drawn, back, ahead, isDropped, shorts }) =>
        `${meter} ${drawn} ${back} ${ahead} ${isDropped} ${shorts.join()}`,
    );
    return `${life} ${generation} ${restates} ${isReplaying} ${asked.join()}/${changes.join()}`;
  });
  for (const { meter, answered } of command.leases)
    text += `,${ago(answered, base.recall(meter), 3)}`;
  return text;
}

function replyText(reply: Reply, base: Base): string {
  if (reply.kind !== 'done') return reply.kind;
  let text = cached(reply, ({ generation, outcomes, leases, left }) => {
    const decided = Array.from(outcomes, ([id, outcome]) => {
      if (outcome.kind !== 'granted') return `${id}${outcome.kind}`;
      return `${id}${outcome.amount}${outcome.shortOn.join()}`;
    });
    const drawn = Array.from(
      leases,
      ([name, one]) => `${name} ${one.drawn} ${one.isOver} ${one.isBeyond}`,
    );
    return `${generation}/${decided.join()}/${drawn.join()}/${[...left].join()}`;
  });
  for (const [name, { recall, answered }] of reply.leases) {
    text += `,${ago(recall, base.recall(name), 3)} ${ago(answered, base.recall(name), 3)}`;
  }
  return text;
}

export function keyOf(world: World): number {
  const { view } = world;
  const base: Base = {
    now: view.now,
    number: (life) => view.lives.get(life)?.number ?? 0,
    recall: (meter) => view.meters.get(meter)!.recall,
  };
  let text = viewText(view, base);
  for (const node of world.nodes) {
    text += `#${node.isUp}${node.isAsleep}${ago(node.seenAt, view.now, stopsAt)}`;
    text += bookText(node.book, base);
    if (node.book.command !== null) text += commandText(node.book.command, base);
    if (node.old !== null) text += `/${bookText(node.old, base)}`;
    if (node.unleased.holds.size > 0) text += `/u${[...node.unleased.holds.keys()].join()}`;
    for (const want of node.queue) text += `+${want.id}${want.isLast}`;
    if (node.flight !== null) {
      text += ago(node.flight.sentAt, view.now, stopsAt);
      text += node.flight.reply === null ? 'sent' : replyText(node.flight.reply, base);
    }
    for (const { id, life, state } of node.creations) text += `!${id}${life}${state}`;
    text += `?${node.kept.map(({ id }) => id).join()}`;
    for (const row of node.journal) {
      text += `-${row.id}`;
      text += cached(
        row,
        ({ life, cost, over, shortOn, parts }) =>
          `${life === unleasedLife ? 'u' : ''}${cost} ${over} ${shortOn.join()} ${Array.from(parts, (part) => part.join()).join()}`,
      );
    }
  }
  for (const command of world.late) text += `~${commandText(command, base)}`;
  text += `${[...world.rows.keys()].join()}${[...world.aged].join()}${[...world.tasks.keys()].join()}`;
  text += `${world.asked} ${world.forgiven} ${world.reopened}${cached(world.used, (used) => Object.values(used).join())}`;
  if (world.snapshot !== null) {
    text += `@${viewText(world.snapshot.view, base)}${[...world.snapshot.tasks.keys()].join()}`;
  }
  return digest(text);
}

/** 53 bits: a collision among a million states has a chance of one in ten thousand. */
function digest(text: string): number {
  let high = 0xdeadbeef;
  let low = 0x41c6ce57;
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  high =
    Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  low =
    Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909);
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0);
}
