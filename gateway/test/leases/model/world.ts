import {
  newMeter,
  unleasedLife,
  type Command,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
  type Reply,
  type Rules,
  type Want,
} from '#leases/index.ts';
import { createBook, type Book } from '#limits/leases/book.ts';

export const rules: Rules = { ticketMs: 1, silentMs: 1, ageMs: 3, restateMs: 2, share: 2_000n };

/** Nine tenths of the age. */
export const stopsAt = 2;

export interface MutableView {
  meters: Map<string, MeterRow>;
  leases: Map<string, Map<string, LeaseRow>>;
  lives: Map<string, LifeRow>;
  limits: ReadonlyMap<string, bigint>;
  generation: number;
  generationAt: number;
  now: number;
}

export interface Row {
  readonly id: string;
  readonly life: string;
  readonly cost: bigint;
  /** The part of the cost above the hold. */
  readonly over: bigint;
  /** The meters on which its hold was short. */
  readonly shortOn: readonly string[];
  readonly parts: ReadonlyMap<string, bigint>;
}

/** The transaction that makes a task of a hold. */
export interface Creation {
  readonly id: string;
  readonly life: string;
  readonly amount: bigint;
  /** By meter: what of it lies in the lease of the life. */
  readonly parts: ReadonlyMap<string, bigint>;
  readonly state: 'under way' | 'committed' | 'rolled back';
}

/** What a task holds. */
export interface Task {
  readonly amount: bigint;
  readonly meters: readonly string[];
}

interface Flight {
  readonly command: Command;
  readonly sentAt: number;
  readonly reply: Reply | null;
}

export interface Node {
  readonly name: string;
  lives: number;
  isUp: boolean;
  isAsleep: boolean;
  book: Book;
  /** The earlier life, which was closed while requests of it were under way. */
  old: Book | null;
  /** Requests that were served without a lease. */
  unleased: Book;
  queue: Want[];
  flight: Flight | null;
  /** When the last accepted sign of life was sent. */
  seenAt: number;
  /** Records on its disk; those that were applied are kept. */
  journal: Row[];
  /** Creations of which its node has not heard yet. */
  creations: readonly Creation[];
  /** Tasks that were in the database, unless it went back. */
  kept: readonly Creation[];
}

export interface World {
  view: MutableView;
  /** The ids of usage rows, with the meters on which they were late. */
  rows: Map<string, Row>;
  nodes: Node[];
  /** Commands that nobody waits for, and that may still arrive. */
  late: Command[];
  /** An earlier state of the database. */
  snapshot: {
    view: MutableView;
    rows: Map<string, Row>;
    tasks: ReadonlyMap<string, Task>;
  } | null;
  /** Lives that were closed because of their age, and what stands for no life. */
  aged: ReadonlySet<string>;
  /** Held by tasks. */
  tasks: ReadonlyMap<string, Task>;
  /** Drawn, and goes back: what rejected records cost above their holds, and what lost tasks took. */
  forgiven: bigint;
  /** What tasks hold once more, because a database that went back lost their ends. */
  reopened: bigint;
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
  'fail',
  'leaving',
  'reserve',
  'away',
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
  /** The first request is for a task. */
  readonly hasTask?: boolean;
  /** After the database went back, nobody draws until the records are there again, however long that takes. */
  readonly waitsForRecords?: boolean;
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
  readonly neverExpires?: boolean;
  readonly ignoresOver?: boolean;
  readonly ignoresLate?: boolean;
  readonly neverAsks?: boolean;
  readonly holdsBeside?: boolean;
  readonly settlesUnleased?: boolean;
}

export function start({ nodes, limits }: Bounds): World {
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
    // What lies in no lease counts like what was freed.
    aged: new Set([unleasedLife]),
    tasks: new Map(),
    forgiven: 0n,
    reopened: 0n,
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
      unleased: createBook(unleasedLife, 0),
      queue: [],
      flight: null,
      seenAt: 0,
      journal: [],
      creations: [],
      kept: [],
    };
    world.nodes.push(node);
    begin(world, node);
  }
  return world;
}

/** A new life, with nothing leased. */
export function begin(world: World, node: Node): void {
  node.lives += 1;
  const { view } = world;
  const life = `${node.name}${node.lives}`;
  view.lives.set(life, { number: 0, generation: view.generation, seenAt: view.now, closed: false });
  node.book = createBook(life, view.generation);
  node.seenAt = view.now;
  node.flight = null;
}

export function copyView(view: MutableView): MutableView {
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
    changed: new Set(book.changed),
    shortsEnded: new Set(book.shortsEnded),
    resting: new Set(book.resting),
  };
}

export function copy(world: World): World {
  return {
    ...world,
    view: copyView(world.view),
    rows: new Map(world.rows),
    nodes: world.nodes.map((node) => ({
      ...node,
      book: copyBook(node.book),
      old: node.old === null ? null : copyBook(node.old),
      unleased: copyBook(node.unleased),
      queue: [...node.queue],
      journal: [...node.journal],
    })),
    late: [...world.late],
  };
}
