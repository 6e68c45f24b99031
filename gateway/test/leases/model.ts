import {
  compose,
  createBook,
  end,
  expire,
  giveUp,
  hear,
  hearBeyond,
  learn,
  lose,
  mustReturn,
  mustState,
  replayed,
  take,
  wentBack,
} from '#limits/leases/book.ts';
import type { Book } from '#limits/leases/book.ts';
import type { Command, Reply, Want } from '#leases/index.ts';
import { decide, newMeter } from '#leases/index.ts';
import {
  amountOf,
  leftOn,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
  type Rules,
} from '#leases/index.ts';
import { release, settle } from './settle.ts';

/*
 * The protocol of leases as a set of states and everything that can happen in each of them. What nodes and the database
 * do is the real code; the model adds what surrounds it: requests, clocks, losses, kills.
 */

export const rules: Rules = { ticketMs: 1, silentMs: 1, ageMs: 3, restateMs: 2, share: 2_000n };
/** Nine tenths of the age. */
const stopsAt = 2;

interface MutableView {
  meters: Map<string, MeterRow>;
  leases: Map<string, Map<string, LeaseRow>>;
  lives: Map<string, LifeRow>;
  limits: ReadonlyMap<string, bigint>;
  generation: number;
  generationAt: number;
  now: number;
}

interface Row {
  readonly id: string;
  readonly life: string;
  readonly cost: bigint;
  readonly parts: ReadonlyMap<string, bigint>;
}

interface Flight {
  readonly command: Command;
  readonly sentAt: number;
  readonly reply: Reply | null;
}

interface Node {
  readonly name: string;
  lives: number;
  isUp: boolean;
  isAsleep: boolean;
  book: Book;
  /** The earlier life, which was closed while requests of it were under way. */
  old: Book | null;
  queue: Want[];
  flight: Flight | null;
  /** When the last accepted sign of life was sent. */
  seenAt: number;
  /** Records on its disk; those that were applied are kept. */
  journal: Row[];
}

export interface World {
  view: MutableView;
  /** The ids of usage rows, with the meters on which they were late. */
  rows: Map<string, Row>;
  nodes: Node[];
  /** Commands that nobody waits for, and that may still arrive. */
  late: Command[];
  /** An earlier state of the database. */
  snapshot: { view: MutableView; rows: Map<string, Row> } | null;
  /** Lives that were closed because of their age. */
  aged: ReadonlySet<string>;
  /** Held by tasks. */
  tasks: ReadonlyMap<string, bigint>;
  asked: number;
  used: Readonly<Record<Fault, number>>;
}

const faults = [
  'lost',
  'again',
  'crash',
  'restart',
  'sleep',
  'tick',
  'back',
  'limit',
  'patience',
  'idle',
  'reject',
  'expire',
] as const;
export type Fault = (typeof faults)[number];

export interface Bounds {
  readonly nodes: number;
  readonly limits: Readonly<Record<string, bigint>>;
  readonly floor: bigint;
  /** What each request asks for: amounts and meters. */
  readonly requests: readonly (readonly [amount: bigint, meters: readonly string[]])[];
  /** What each request may cost, relative to its hold. */
  readonly costs: readonly ('nothing' | 'less' | 'hold' | 'more')[];
  readonly ahead: bigint;
  /** How often each of these may happen. */
  readonly most: Partial<Record<Fault, number>>;
  readonly newLimit?: bigint;
  readonly isDurable?: boolean;
}

/** A rule that is left out, to see the search notice it. */
export interface Mutation {
  readonly name: string;
  /** Changes what the database sees. */
  readonly command?: (command: Command, world: World) => Command;
  /** Changes the rows before they are looked at. */
  readonly rows?: (world: World, command: Command) => void;
  readonly book?: (book: Book) => void;
  readonly ignoresAge?: boolean;
  readonly sleepsWithoutAging?: boolean;
  readonly releasesFirst?: boolean;
  readonly countsTwice?: boolean;
  readonly forgetsDoubt?: boolean;
  readonly neverHears?: boolean;
  readonly keepsBeyond?: boolean;
  readonly skipsReplay?: boolean;
  readonly keepsReturns?: boolean;
  readonly neverFrees?: boolean;
}

export interface Finding {
  readonly problem: string;
  readonly path: readonly string[];
}

export interface Explored {
  readonly states: number;
  readonly isComplete: boolean;
  readonly finding: Finding | null;
}

type Step = readonly [label: string, run: (world: World) => void];

/* ---------- states ---------- */

function start({ nodes, limits }: Bounds): World {
  const view: MutableView = {
    meters: new Map(),
    leases: new Map(),
    lives: new Map(),
    limits: new Map(Object.entries(limits)),
    generation: 0,
    generationAt: -1_000,
    now: 0,
  };
  for (const name of Object.keys(limits)) {
    view.meters.set(name, newMeter(0n));
    view.leases.set(name, new Map());
  }
  const world: World = {
    view,
    rows: new Map(),
    nodes: [],
    late: [],
    snapshot: null,
    aged: new Set(),
    tasks: new Map(),
    asked: 0,
    used: Object.fromEntries(faults.map((fault) => [fault, 0])) as World['used'],
  };
  for (let at = 0; at < nodes; at += 1) {
    const node: Node = {
      name: 'ABC'[at]!,
      lives: 0,
      isUp: true,
      isAsleep: false,
      book: createBook('', 0),
      old: null,
      queue: [],
      flight: null,
      seenAt: 0,
      journal: [],
    };
    world.nodes.push(node);
    begin(world, node);
  }
  return world;
}

/** A new life, with nothing leased. */
function begin(world: World, node: Node): void {
  node.lives += 1;
  const { view } = world;
  const life = `${node.name}${node.lives}`;
  view.lives.set(life, { number: 0, generation: view.generation, seenAt: view.now, closed: false });
  node.book = createBook(life, view.generation);
  node.seenAt = view.now;
  node.flight = null;
}

function copyView(view: MutableView): MutableView {
  return {
    ...view,
    meters: new Map(Array.from(view.meters, ([name, row]) => [name, { ...row }])),
    leases: new Map(
      Array.from(view.leases, ([name, leases]) => [
        name,
        new Map(Array.from(leases, ([life, row]) => [life, { ...row }])),
      ]),
    ),
    lives: new Map(Array.from(view.lives, ([name, row]) => [name, { ...row }])),
  };
}

function copyBook(book: Book): Book {
  return {
    ...book,
    leases: new Map(Array.from(book.leases, ([name, lease]) => [name, { ...lease }])),
    holds: new Map(book.holds),
    shorts: new Map(book.shorts),
    shortsEnded: new Set(book.shortsEnded),
  };
}

function copy(world: World): World {
  return {
    ...world,
    view: copyView(world.view),
    rows: new Map(world.rows),
    nodes: world.nodes.map((node) => ({
      ...node,
      book: copyBook(node.book),
      old: node.old === null ? null : copyBook(node.old),
      queue: [...node.queue],
      journal: [...node.journal],
    })),
    late: [...world.late],
  };
}

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
  let text = `${book.life} ${book.sent - first} ${book.known - first} ${book.generation} ${book.restates}`;
  text += ` ${book.isReplaying} ${book.isStated}`;
  for (const [name, lease] of book.leases) {
    text += `|${name} ${lease.drawn} ${lease.charged} ${lease.held} ${lease.frozen} ${lease.isOver}`;
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
  return `${text}|${[...book.shortsEnded].join()}`;
}

function commandText(command: Command, base: Base): string {
  const first = base.number(command.life);
  // What was overtaken does nothing, however long ago that was.
  let text = `${Math.max(command.number - first, 0)} ${ago(command.known, first, 2)}`;
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
  let text = cached(reply, ({ generation, outcomes, leases }) => {
    const decided = Array.from(outcomes, ([id, outcome]) => {
      if (outcome.kind !== 'granted') return `${id}${outcome.kind}`;
      return `${id}${outcome.amount}${outcome.shortOn.join()}`;
    });
    const drawn = Array.from(
      leases,
      ([name, one]) => `${name} ${one.drawn} ${one.isOver} ${one.isBeyond}`,
    );
    return `${generation}/${decided.join()}/${drawn.join()}`;
  });
  for (const [name, { recall, answered }] of reply.leases) {
    text += `,${ago(recall, base.recall(name), 3)} ${ago(answered, base.recall(name), 3)}`;
  }
  return text;
}

function keyOf(world: World): number {
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
    for (const want of node.queue) text += `+${want.id}${want.isLast}`;
    if (node.flight !== null) {
      text += ago(node.flight.sentAt, view.now, stopsAt);
      text += node.flight.reply === null ? 'sent' : replyText(node.flight.reply, base);
    }
    for (const row of node.journal) {
      text += `-${row.id}`;
      text += cached(
        row,
        ({ cost, parts }) => `${cost}${Array.from(parts, (part) => part.join()).join()}`,
      );
    }
  }
  for (const command of world.late) text += `~${commandText(command, base)}`;
  text += `${[...world.rows.keys()].join()}${[...world.aged].join()}${[...world.tasks].join()}`;
  text += `${world.asked}${cached(world.used, (used) => Object.values(used).join())}`;
  if (world.snapshot !== null) text += `@${viewText(world.snapshot.view, base)}`;
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

/* ---------- what can happen ---------- */

/** What happens when a command reaches the database. */
function execute(world: World, sent: Command, { command: change, rows }: Mutation): Reply {
  const command = change === undefined ? sent : change(sent, world);
  rows?.(world, command);
  const reply = decide(world.view, command, rules);
  if (reply.kind === 'done') {
    for (const want of command.wants) {
      const outcome = reply.outcomes.get(want.id)!;
      if (!want.isDurable || outcome.kind !== 'granted') continue;
      // The task is created in the same transaction.
      world.tasks = new Map([...world.tasks, [want.id, outcome.amount]]);
    }
  }
  return reply;
}

function send(
  { view }: World,
  node: Node,
  isAhead: bigint,
  isIdle: boolean,
  mutation: Mutation,
): void {
  const { book } = node;
  const wants = node.queue;
  const ahead = new Map(
    isAhead === 0n
      ? []
      : wants.flatMap(({ meters }) =>
          meters.map(({ name, floor }) => [name, { amount: isAhead, floor }] as const),
        ),
  );
  const idle = isIdle ? [...book.leases.keys()] : [];
  const command = compose(book, { wants, idle, ahead });
  mutation.book?.(book);
  node.flight = { command, sentAt: view.now, reply: null };
}

function receive(world: World, node: Node, mutation: Mutation): void {
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
      if (reply.outcomes.get(id)!.kind === 'waits') continue;
      node.queue = node.queue.filter((want) => want.id !== id);
    }
  } else lose(book);
}

/** Whether a life whose last accepted sign was sent then must admit nothing. */
function isTooOld({ view }: World, sentAt: number, { ignoresAge }: Mutation): boolean {
  return view.now - sentAt >= stopsAt && ignoresAge !== true;
}

/** Requests of the closed life go on; what they cost is late. */
function closeOwn(world: World, node: Node): void {
  node.old = node.book.holds.size > 0 ? node.book : node.old;
  begin(world, node);
}

function noteLoss(world: World, node: Node, { skipsReplay }: Mutation): void {
  wentBack(node.book);
  if (skipsReplay === true) replayed(node.book);
}

/** The records of the time that was lost are applied once more. */
function replay(world: World, node: Node): void {
  for (const row of node.journal) insert(world, row, {});
  for (let life = 1; life < node.lives; life += 1) closeLife(world, `${node.name}${life}`);
  replayed(node.book);
}

/** The usage row, and the money with it, in one transaction. */
function insert(world: World, row: Row, { countsTwice }: Partial<Mutation>): void {
  if (world.rows.has(row.id) && countsTwice !== true) return;
  settle(world.view, row);
  world.rows.set(row.id, row);
}

function closeLife(world: World, name: string): void {
  const life = world.view.lives.get(name);
  if (life === undefined) return;
  life.closed = true;
  release(world.view, name);
}

function look(world: World, node: Node, mutation: Mutation): void {
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
  const isKnown = life !== undefined && life.number >= book.known && !isAhead;
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
function beyondIn({ meters, limits }: MutableView): Set<string> {
  const beyond = new Set<string>();
  for (const [meter, row] of meters) if (leftOn(row, limits.get(meter)!) < 0n) beyond.add(meter);
  return beyond;
}

function* steps(world: World, bounds: Bounds, mutation: Mutation): Generator<Step> {
  const may = (fault: Fault) => world.used[fault] < (bounds.most[fault] ?? 0);
  const use = (next: World, fault: Fault) => {
    next.used = { ...next.used, [fault]: next.used[fault] + 1 };
  };
  for (const [at, node] of world.nodes.entries()) {
    const { name, book } = node;
    const here = (run: (next: World, node: Node) => void) => (next: World) =>
      run(next, next.nodes[at]!);
    if (!node.isUp) {
      if (may('restart')) {
        yield [
          `${name} restarts`,
          here((next, self) => {
            use(next, 'restart');
            self.isUp = true;
            begin(next, self);
          }),
        ];
      }
      continue;
    }
    if (node.isAsleep) {
      yield [`${name} wakes`, here((_, self) => (self.isAsleep = false))];
      continue;
    }
    const isStopped = isTooOld(world, node.seenAt, mutation);

    const request = bounds.requests[world.asked];
    if (request !== undefined && !isStopped) {
      const [amount, meters] = request;
      const id = `r${world.asked}`;
      yield [
        `${name} is asked for ${amount} (${id})`,
        here((next, self) => {
          next.asked += 1;
          const want: Want = {
            id,
            amount,
            meters: meters.map((meter) => ({ name: meter, floor: bounds.floor, limit: 0n })),
            isLast: false,
            isDurable: bounds.isDurable === true && id === 'r0',
          };
          const before = takenOf(next);
          if (!want.isDurable && take(self.book, want)) checkFloor(before, next, want, bounds);
          else self.queue.push(want);
        }),
      ];
    }

    if (node.flight === null) {
      const mustAnswer = Array.from(book.leases.values()).some(mustReturn);
      const hasWork =
        book.restates === 'no' ? mustAnswer || book.shortsEnded.size > 0 : mustState(book);
      const isPaused = book.restates !== 'no' && !hasWork;
      if (book.isReplaying) {
        yield [`${name} replays its records`, here((next, self) => replay(next, self))];
        yield [`${name} waits for its records no longer`, here((_, self) => replayed(self.book))];
      }
      if (hasWork || (node.queue.length > 0 && !isStopped && !isPaused)) {
        yield [`${name} sends`, here((next, self) => send(next, self, 0n, false, mutation))];
        if (bounds.ahead > 0n && node.queue.length > 0 && book.restates === 'no') {
          yield [
            `${name} sends, drawing ahead`,
            here((next, self) => send(next, self, bounds.ahead, false, mutation)),
          ];
        }
      }
      if (may('idle') && book.restates === 'no' && book.leases.size > 0 && !hasWork) {
        yield [
          `${name} returns what is idle`,
          here((next, self) => {
            use(next, 'idle');
            send(next, self, 0n, true, mutation);
          }),
        ];
      }
    } else {
      const { command, sentAt, reply } = node.flight;
      if (reply === null) {
        yield [
          `${name}'s command ${command.number} arrives`,
          here((next, self) => {
            const before = takenOf(next);
            const answer = execute(next, command, mutation);
            self.flight = { command, sentAt, reply: answer };
            checkGrants(before, next, command, answer, bounds);
          }),
        ];
      } else {
        yield [`${name} hears of ${command.number}`, here((n, self) => receive(n, self, mutation))];
      }
      if (may('lost')) {
        yield [
          `${name} loses ${command.number}`,
          here((next, self) => {
            use(next, 'lost');
            if (reply === null) next.late.push(command);
            self.flight = null;
            if (mutation.forgetsDoubt === true) self.book.command = null;
            else lose(self.book);
            if (mutation.keepsReturns !== true) return;
            for (const lease of self.book.leases.values()) lease.frozen = 0n;
          }),
        ];
      }
    }

    if (may('patience') && node.queue.some(({ isLast }) => !isLast)) {
      yield [
        `${name} waits no longer`,
        here((next, self) => {
          use(next, 'patience');
          self.queue = self.queue.map((want) => ({ ...want, isLast: true }));
        }),
      ];
    }

    const beyond = beyondIn(world.view);
    const isBehind = Array.from(book.leases).some(
      ([meter, { recall, isBeyond }]) =>
        world.view.meters.get(meter)!.recall > recall || beyond.has(meter) !== isBeyond,
    );
    const isStale =
      world.view.now > node.seenAt ||
      world.view.lives.get(book.life)?.closed !== false ||
      world.view.generation !== book.generation ||
      Array.from(book.leases).some(
        ([meter, { recall }]) => world.view.meters.get(meter)!.recall < recall,
      );
    if ((isBehind && mutation.neverHears !== true) || isStale) {
      yield [`${name} looks`, here((next, self) => look(next, self, mutation))];
    }

    for (const [which, owner] of [book, node.old].entries()) {
      if (owner === null) continue;
      for (const [id, hold] of owner.holds) {
        if (may('expire') && !hold.isVoid) {
          yield [
            `the hold of ${id} at ${name} expires`,
            here((next, self) => {
              use(next, 'expire');
              expire(which === 0 ? self.book : self.old!, id);
            }),
          ];
        }
        for (const cost of bounds.costs) {
          yield [
            `${id} at ${name} costs ${cost}`,
            here((next, self) =>
              finish(self, which === 0 ? self.book : self.old!, id, hold.amount, cost),
            ),
          ];
        }
      }
    }

    const record = node.journal.find(({ id }) => !world.rows.has(id));
    if (record !== undefined && may('reject')) {
      yield [
        `${record.id} is never accepted`,
        here((next, self) => {
          use(next, 'reject');
          self.journal = self.journal.filter(({ id }) => id !== record.id);
          for (const owner of [self.book, self.old]) {
            if (owner?.life === record.life) giveUp(owner, record.parts);
          }
        }),
      ];
    }
    yield* journalSteps(world, node, here, mutation);

    if (may('crash')) {
      yield [
        `${name} is killed`,
        here((next, self) => {
          use(next, 'crash');
          kill(next, self);
        }),
      ];
    }
    if (may('sleep')) {
      yield [
        `${name} sleeps`,
        here((next, self) => {
          use(next, 'sleep');
          self.isAsleep = true;
        }),
      ];
    }
  }
  yield* surroundings(world, bounds, mutation, may, use);
}

function kill(next: World, self: Node): void {
  self.isUp = false;
  if (self.flight?.reply === null) next.late.push(self.flight.command);
  self.flight = null;
  self.queue = [];
  self.old = null;
  self.book = createBook(self.book.life, 0);
}

function finish(
  node: Node,
  book: Book,
  id: string,
  amount: bigint,
  cost: Bounds['costs'][number],
): void {
  const charge = { nothing: 0n, less: 1n, hold: amount, more: amount + 1n }[cost];
  const parts = end(book, id, charge);
  if (node.old?.holds.size === 0) node.old = null;
  if (charge > 0n) node.journal.push({ id, life: book.life, cost: charge, parts });
}

/** The first record that is not in the database yet; then the leases of earlier lives, which the folder proves dead. */
function* journalSteps(
  world: World,
  node: Node,
  here: (run: (next: World, node: Node) => void) => (next: World) => void,
  mutation: Mutation,
): Generator<Step> {
  const next = node.journal.find(({ id }) => !world.rows.has(id));
  if (next !== undefined) {
    yield [`${node.name} applies ${next.id}`, (after) => insert(after, next, {})];
  }
  const applied = node.journal.find(({ id }) => world.rows.has(id));
  if (mutation.countsTwice === true && applied !== undefined && world.used.again < 1) {
    yield [
      `${node.name} applies ${applied.id} again`,
      (after) => {
        after.used = { ...after.used, again: 1 };
        insert(after, applied, mutation);
      },
    ];
  }
  if (next !== undefined && mutation.releasesFirst !== true) return;
  const earlier: string[] = [];
  for (let life = 1; life < node.lives; life += 1) earlier.push(`${node.name}${life}`);
  const open = earlier.find((life) => world.view.lives.get(life)?.closed === false);
  if (open !== undefined) {
    yield [
      `${node.name} gives back the leases of ${open}`,
      here((after) => closeLife(after, open)),
    ];
  }
}

function* surroundings(
  world: World,
  bounds: Bounds,
  mutation: Mutation,
  may: (fault: Fault) => boolean,
  use: (next: World, fault: Fault) => void,
): Generator<Step> {
  const { view } = world;
  for (const [at, command] of world.late.entries()) {
    yield [
      `${command.life}'s command ${command.number} arrives late`,
      (next) => {
        next.late.splice(at, 1);
        const before = takenOf(next);
        execute(next, command, mutation);
        void before;
      },
    ];
  }
  if (may('tick')) {
    yield [
      'time passes',
      (next) => {
        use(next, 'tick');
        next.view.now += 1;
        for (const node of next.nodes) {
          // A machine that sleeps, with a clock that sleeps too.
          if (mutation.sleepsWithoutAging !== true || !node.isAsleep) continue;
          node.seenAt += 1;
          if (node.flight !== null)
            node.flight = { ...node.flight, sentAt: node.flight.sentAt + 1 };
        }
      },
    ];
  }
  for (const [name, { seenAt, closed }] of view.lives) {
    if (closed || view.now - seenAt < rules.ageMs || mutation.neverFrees === true) continue;
    yield [
      `${name} is freed for its age`,
      (next) => {
        next.aged = new Set([...next.aged, name]);
        closeLife(next, name);
      },
    ];
  }
  if (may('limit') && bounds.newLimit !== undefined) {
    yield [
      'the limit changes',
      (next) => {
        use(next, 'limit');
        const [meter] = view.limits.keys();
        next.view.limits = new Map([...view.limits, [meter!, bounds.newLimit!]]);
      },
    ];
  }
  if (may('back')) {
    if (world.snapshot === null) {
      yield [
        'the database is copied',
        (next) => {
          next.snapshot = { view: copyView(next.view), rows: new Map(next.rows) };
        },
      ];
    } else {
      yield [
        'the database goes back',
        (next) => {
          use(next, 'back');
          const { view: past, rows } = next.snapshot!;
          next.snapshot = null;
          // Connections break.
          next.late = [];
          for (const node of next.nodes) {
            if (node.flight === null) continue;
            node.flight = null;
            lose(node.book);
          }
          next.view = { ...past, now: next.view.now };
          next.rows = rows;
        },
      ];
    }
  }
  for (const [id, amount] of world.tasks) {
    yield [
      `the task ${id} ends`,
      (next) => {
        const tasks = new Map(next.tasks);
        tasks.delete(id);
        next.tasks = tasks;
        const row = next.view.meters.get('m')!;
        row.held -= amount;
        row.spent += amount;
        next.rows.set(id, { id, life: '', cost: amount, parts: new Map([['m', amount]]) });
      },
    ];
  }
}

/* ---------- what must be true ---------- */

class Violation extends Error {}

/** By meter: what is spent or held of the limit, without what the rules except: charges above their holds, late ones. */
function takenOf(world: World): Map<string, bigint> {
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

function checkFloor(before: Map<string, bigint>, _: World, want: Want, bounds: Bounds): void {
  for (const { name, floor } of want.meters) {
    if (highest(bounds, name) - before.get(name)! < floor) {
      throw new Violation(`${want.id} is admitted below the floor of ${name}`);
    }
  }
}

function checkGrants(
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
function check(world: World, bounds: Bounds): void {
  const { view } = world;
  const wasBack = world.used.back > 0;
  for (const [meter, taken] of takenOf(world)) {
    if (!wasBack && taken > highest(bounds, meter)) {
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
    if (!wasBack && inLeases + row.leased + row.held > highest(bounds, meter)) {
      throw new Violation(`${meter} is leased beyond its limit`);
    }
    checkShorts(world, meter);
  }
  if (!wasBack) for (const node of world.nodes) if (node.isUp) checkBook(world, node);
}

/** A life that was freed admits nothing more. */
function checkAge(before: World, { nodes, aged }: World): void {
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

/**
 * When everything has come to rest, whoever asks alone is admitted to all that is left, and nothing stays leased.
 * @throws Violation
 */
function checkRest(world: World, bounds: Bounds, mutation: Mutation): void {
  const still = copy(world);
  while (still.late.length > 0) execute(still, still.late.shift()!, mutation);
  for (const node of still.nodes) {
    node.isAsleep = false;
    node.queue = [];
    if (node.isUp) continue;
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
    for (const book of [node.book, node.old]) {
      if (book === null) continue;
      for (const [id, { amount }] of book.holds) finish(node, book, id, amount, 'nothing');
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
  if (book.isReplaying) replay(world, node);
  const mustAnswer = Array.from(book.leases.values()).some(mustReturn);
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
    isDurable: false,
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

/* ---------- the search ---------- */

/** Visits every state that can be reached within the bounds, the nearest first. */
export function explore(
  bounds: Bounds,
  mutation: Mutation = { name: '' },
  most = Infinity,
): Explored {
  const seen = new Map<number, readonly [parent: number, label: string]>();
  const first = start(bounds);
  const firstKey = keyOf(first);
  seen.set(firstKey, [0, '']);
  let frontier: [number, World][] = [[firstKey, first]];
  const pathTo = (key: number, last: string): string[] => {
    const path = [last];
    for (let at = key; at !== firstKey;) {
      const [parent, label] = seen.get(at)!;
      path.push(label);
      at = parent;
    }
    return path.toReversed();
  };
  while (frontier.length > 0) {
    const next: [number, World][] = [];
    for (const [key, world] of frontier) {
      for (const [label, run] of steps(world, bounds, mutation)) {
        const after = copy(world);
        try {
          run(after);
          checkAge(world, after);
          const afterKey = keyOf(after);
          if (seen.has(afterKey)) continue;
          seen.set(afterKey, [key, label]);
          check(after, bounds);
          checkRest(after, bounds, mutation);
          next.push([afterKey, after]);
        } catch (error) {
          if (!(error instanceof Violation)) {
            throw new Error(`after ${pathTo(key, label).join('; ')}`, { cause: error });
          }
          const finding = { problem: error.message, path: pathTo(key, label) };
          return { states: seen.size, isComplete: false, finding };
        }
        if (seen.size >= most) return { states: seen.size, isComplete: false, finding: null };
      }
    }
    frontier = next;
  }
  return { states: seen.size, isComplete: true, finding: null };
}
