import type { Bounds, Mutation } from './model/world.ts';

const small: Bounds = {
  nodes: 2,
  limits: { m: 3n },
  floor: 1n,
  requests: [
    [1n, ['m']],
    [2n, ['m']],
  ],
  costs: ['nothing', 'hold'],
  ahead: 0n,
  most: {},
};

const both: Bounds = {
  ...small,
  limits: { m: 2n },
  requests: [
    [2n, ['m']],
    [2n, ['m']],
  ],
  costs: ['nothing'],
};

/** Small enough for every run of the tests. */
export const scenarios: Readonly<Record<string, Bounds>> = {
  'two nodes share a limit': { ...small, ahead: 1n, most: { patience: 1 } },
  'charges below and above their holds': {
    ...small,
    costs: ['nothing', 'less', 'hold', 'more'],
    most: { reject: 1 },
  },
  'short holds cost more than they hold': {
    ...small,
    nodes: 1,
    requests: [
      [1n, ['m']],
      [3n, ['m']],
      [3n, ['m']],
    ],
    costs: ['nothing', 'more'],
  },
  'a hold expires before its request ends': {
    ...small,
    costs: ['nothing', 'more'],
    most: { expire: 1 },
  },
  'a reserve is filled up while another node asks': { ...small, ahead: 1n, most: { reserve: 1 } },
  'the database is unreachable, and a request is served without a lease': {
    ...small,
    costs: ['nothing', 'hold', 'more'],
    most: { away: 1 },
  },
  'idle leases go back': { ...both, most: { idle: 1 } },
  'a command leaves a meter out whose lease it forgets': {
    ...small,
    nodes: 1,
    limits: { m: 3n, n: 1n },
    requests: [
      [1n, ['m']],
      [1n, ['n']],
      [2n, ['m']],
      [1n, ['m']],
    ],
    costs: ['hold'],
    most: { leaving: 1, idle: 2 },
  },
  'a command leaves a meter out, and is lost': {
    ...both,
    limits: { m: 2n, n: 1n },
    requests: [
      [2n, ['m']],
      [1n, ['n']],
    ],
    most: { leaving: 1, idle: 1, lost: 1 },
  },
  'a message is lost, or arrives late': { ...both, most: { lost: 1 } },
  'one node loses two messages': { ...small, nodes: 1, most: { lost: 2, idle: 1 } },
  'a node is killed and starts again': { ...both, costs: ['hold'], most: { crash: 1, restart: 1 } },
  'a node is silent until it is freed': {
    ...small,
    requests: [[2n, ['m']]],
    costs: ['hold'],
    most: { tick: 3, sleep: 1 },
  },
  'the database goes back': {
    ...small,
    requests: [
      [2n, ['m']],
      [1n, ['m']],
    ],
    costs: ['hold'],
    most: { back: 1 },
  },
  'the database of one node goes back behind a lease that it has forgotten': {
    ...small,
    nodes: 1,
    requests: [
      [2n, ['m']],
      [2n, ['m']],
    ],
    costs: ['hold'],
    most: { back: 1, idle: 2 },
    waitsForRecords: true,
  },
  'a limit is raised': { ...small, newLimit: 5n, most: { limit: 1 } },
  'a limit is lowered': { ...small, ahead: 1n, newLimit: 1n, most: { limit: 1 } },
  'a task holds for days': { ...small, costs: ['nothing', 'hold', 'more'], hasTask: true },
  'a task holds on two meters': {
    ...small,
    limits: { m: 3n, k: 2n },
    requests: [
      [2n, ['m', 'k']],
      [1n, ['k']],
    ],
    hasTask: true,
    most: { fail: 1 },
  },
  'a node is killed while its task is created': {
    ...small,
    requests: [
      [2n, ['m']],
      [2n, ['m']],
    ],
    costs: ['hold'],
    hasTask: true,
    most: { crash: 1, restart: 1 },
  },
  'a limit is lowered below what a task holds': {
    ...small,
    requests: [
      [2n, ['m']],
      [1n, ['m']],
    ],
    costs: ['nothing'],
    newLimit: 1n,
    hasTask: true,
    most: { limit: 1, fail: 1 },
  },
  'a node is silent until it is freed while its task is created': {
    ...small,
    requests: [[2n, ['m']]],
    costs: ['hold'],
    hasTask: true,
    most: { tick: 3, sleep: 1 },
  },
  'the database of one node goes back behind a task': {
    ...small,
    nodes: 1,
    requests: [
      [2n, ['m']],
      [2n, ['m']],
    ],
    costs: ['hold'],
    hasTask: true,
    most: { back: 1 },
    waitsForRecords: true,
  },
  'the database goes back behind a task': {
    ...small,
    requests: [[2n, ['m']]],
    costs: ['hold'],
    hasTask: true,
    most: { back: 1 },
  },
  'a request counts on two meters': {
    ...small,
    limits: { m: 3n, k: 2n },
    requests: [
      [1n, ['m', 'k']],
      [2n, ['k', 'm']],
    ],
  },
  'a floor is kept': {
    ...small,
    limits: { m: 4n },
    floor: 2n,
    requests: [
      [2n, ['m']],
      [1n, ['m']],
      [1n, ['m']],
    ],
    costs: ['hold'],
  },
};

/** For a search of its own, with minutes to spend. */
export const largeScenarios: Readonly<Record<string, Bounds>> = {
  'reserves of three nodes are called back': {
    ...both,
    nodes: 3,
    ahead: 1n,
    most: { reserve: 2, patience: 1 },
  },
  'the database goes back after a request without a lease': {
    ...small,
    costs: ['hold'],
    most: { away: 1, back: 1 },
  },
  'the database of one node goes back behind a task, and leases go back': {
    ...small,
    nodes: 1,
    requests: [
      [2n, ['m']],
      [2n, ['m']],
    ],
    costs: ['nothing', 'hold'],
    hasTask: true,
    most: { back: 1, idle: 1 },
    waitsForRecords: true,
  },
  'messages are lost while a task is created': {
    ...both,
    costs: ['hold'],
    hasTask: true,
    most: { lost: 1, fail: 1 },
  },
  'a task on two meters and a kill': {
    ...small,
    limits: { m: 3n, k: 2n },
    requests: [
      [2n, ['m', 'k']],
      [1n, ['k']],
    ],
    costs: ['hold'],
    hasTask: true,
    most: { crash: 1, restart: 1, fail: 1 },
  },
  'short holds of two nodes cost more than they hold': {
    ...small,
    requests: [
      [1n, ['m']],
      [3n, ['m']],
      [3n, ['m']],
    ],
    costs: ['nothing', 'more'],
  },
  'the last money goes to one request at a time': {
    ...small,
    requests: [
      [2n, ['m']],
      [2n, ['m']],
      [3n, ['m']],
    ],
    costs: ['nothing'],
  },
  'three requests': {
    ...small,
    limits: { m: 4n },
    requests: [
      [2n, ['m']],
      [2n, ['m']],
      [1n, ['m']],
    ],
    ahead: 1n,
    costs: ['nothing', 'hold', 'more'],
    most: { patience: 1 },
  },
  'three nodes': { ...both, nodes: 3, most: { idle: 1, patience: 1 } },
  'messages are lost while leases go back': { ...both, most: { idle: 1, lost: 1 } },
  'two messages are lost': { ...small, ahead: 1n, most: { lost: 2 } },
  'a kill and a lost message': {
    ...small,
    limits: { m: 2n },
    most: { crash: 1, restart: 1, lost: 1 },
  },
  'freed while another asks': {
    ...both,
    costs: ['hold'],
    most: { tick: 3, sleep: 1 },
  },
  'killed, freed, and back': {
    ...small,
    requests: [[2n, ['m']]],
    costs: ['hold'],
    most: { tick: 3, crash: 1, restart: 1 },
  },
  'the database goes back, and a message is lost': {
    ...small,
    costs: ['hold'],
    most: { back: 1, lost: 1 },
  },
};

const newest = (life: string, lives: ReadonlyMap<string, { readonly number: number }>) =>
  lives.get(life)?.number ?? 0;

/** Each leaves out one rule of the protocol, in a scenario that needs it. */
export const mutations: readonly (readonly [scenario: string, mutation: Mutation])[] = [
  [
    'a node is killed while its task is created',
    {
      name: 'the exactness of what a task holds',
      command: (command) => ({
        ...command,
        wants: command.wants.map((want) => ({ ...want, isExact: false })),
      }),
    },
  ],
  [
    'a task holds for days',
    { name: 'taking what a task holds out of the lease', holdsBeside: true },
  ],
  [
    'a node is killed while its task is created',
    { name: 'refusing a task whose lease was freed', ignoresLate: true },
  ],
  [
    'the database of one node goes back behind a task',
    { name: 'asking whether the database still has a task', neverAsks: true },
  ],
  [
    'short holds cost more than they hold',
    {
      name: 'drawing what charges cost above their holds',
      ignoresOver: true,
    },
  ],
  [
    'a message is lost, or arrives late',
    {
      name: 'the number of a command',
      command(command, { view }) {
        const known = newest(command.life, view.lives);
        return { ...command, number: known + 1, known };
      },
    },
  ],
  [
    'a message is lost, or arrives late',
    { name: 'stating anew what was lost', forgetsDoubt: true },
  ],
  [
    'two nodes share a limit',
    {
      name: 'freezing what goes back',
      book(book) {
        for (const lease of book.leases.values()) lease.frozen = 0n;
      },
    },
  ],
  [
    'one node loses two messages',
    { name: 'giving up a return whose reply is lost', keepsReturns: true },
  ],
  [
    'the database of one node goes back behind a lease that it has forgotten',
    { name: 'the wait for its records', skipsReplay: true },
  ],
  ['a hold expires before its request ends', { name: 'expiry', neverExpires: true }],
  ['two nodes share a limit', { name: 'counting a row once', countsTwice: true }],
  [
    'a node is killed and starts again',
    { name: 'the journal before the release', releasesFirst: true },
  ],
  ['a node is killed and starts again', { name: 'freeing a silent life', neverFrees: true }],
  ['a node is silent until it is freed', { name: 'stopping before the age', ignoresAge: true }],
  [
    'a node is silent until it is freed',
    { name: 'a clock that runs in sleep', sleepsWithoutAging: true },
  ],
  [
    'the last money goes to one request at a time',
    {
      name: 'one short hold over all nodes',
      rows({ view }) {
        for (const row of view.meters.values()) row.short = null;
      },
    },
  ],
  [
    'two nodes share a limit',
    {
      name: 'asking whoever has a lease',
      rows({ view }) {
        for (const leases of view.leases.values()) {
          for (const lease of leases.values()) lease.answered = 1_000;
        }
      },
    },
  ],
  [
    'the database is unreachable, and a request is served without a lease',
    { name: 'keeping what has no lease out of the leases', settlesUnleased: true },
  ],
  [
    'two nodes share a limit',
    { name: 'the look that replaces lost notifications', neverHears: true },
  ],
  [
    'a limit is lowered',
    { name: 'returning what a lowered limit does not cover', keepsBeyond: true },
  ],
  [
    'two nodes share a limit',
    {
      name: 'what others have leased',
      rows({ view }) {
        for (const row of view.meters.values()) row.leased = 0n;
      },
    },
  ],
];
