import { groupsOf, narrow, withLeft, type Want } from '#leases/index.ts';
import {
  expire,
  returnLostCharge,
  lose,
  calledBack,
  mustState,
  endReplay,
  take,
} from '#limits/leases/book.ts';
import {
  beyondIn,
  chargeFor,
  closeLife,
  execute,
  finish,
  insert,
  isTooOld,
  kill,
  look,
  receive,
  replay,
  send,
} from './acts.ts';
import { checkFloor, checkGrants, takenOf } from './checks.ts';
import {
  ask,
  breakCreations,
  create,
  decided,
  endTask,
  hear as hearOfTask,
  keep,
} from './tasks.ts';
import {
  begin,
  copyView,
  rules,
  type Bounds,
  type Fault,
  type Mutation,
  type Node,
  type World,
} from './world.ts';

type Step = readonly [label: string, run: (world: World) => void];

export function* steps(world: World, bounds: Bounds, mutation: Mutation): Generator<Step> {
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
            isExact: bounds.hasTask === true && id === 'r0',
          };
          const before = takenOf(next);
          if (take(self.book, want)) checkFloor(before, next, want, bounds);
          else self.queue.push(want);
        }),
      ];
    }

    // The database is unreachable, for as long as anybody likes; the node may still have leases.
    if (request !== undefined && may('away')) {
      const [amount, meters] = request;
      const id = `r${world.asked}`;
      yield [
        `${name} serves ${id} without a lease`,
        here((next, self) => {
          use(next, 'away');
          next.asked += 1;
          self.unleased.holds.set(id, { amount, isVoid: false, meters, shortOn: [] });
        }),
      ];
    }

    if (node.flight === null) {
      const mustAnswer = calledBack(book).next().done !== true;
      const hasWork =
        book.restates === 'no' ? mustAnswer || book.shortsEnded.size > 0 : mustState(book);
      const isPaused = book.restates !== 'no' && !hasWork;
      if (book.isReplaying) {
        yield [`${name} replays its records`, here((next, self) => replay(next, self))];
        if (bounds.waitsForRecords !== true) {
          yield [
            `${name} waits for its records no longer`,
            here((_, self) => endReplay(self.book)),
          ];
        }
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
      if (may('reserve') && book.restates === 'no' && !hasWork) {
        yield [
          `${name} fills up its reserve`,
          here((next, self) => {
            use(next, 'reserve');
            // Also of a limit that only its peers use.
            send(next, self, bounds.ahead, false, mutation, [...next.view.limits.keys()]);
          }),
        ];
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
        const groups = command.restates === 'no' ? groupsOf(command) : [];
        for (const group of groups.length > 1 && may('leaving') ? groups : []) {
          yield [
            `${name}'s command ${command.number} arrives and does only what concerns ${[...group].join()}`,
            here((next, self) => {
              use(next, 'leaving');
              const before = takenOf(next);
              const part = execute(next, narrow(command, group), mutation);
              const answer = withLeft(part, command, group);
              self.flight = { command, sentAt, reply: answer };
              checkGrants(before, next, command, answer, bounds);
            }),
          ];
        }
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

    for (const [which, owner] of [book, node.old, node.unleased].entries()) {
      if (owner === null) continue;
      const ownerIn = (self: Node) => [self.book, self.old!, self.unleased][which]!;
      for (const [id, hold] of owner.holds) {
        if (may('expire') && !hold.isVoid && mutation.neverExpires !== true) {
          yield [
            `the hold of ${id} at ${name} expires`,
            here((next, self) => {
              use(next, 'expire');
              expire(ownerIn(self), id);
            }),
          ];
        }
        for (const cost of bounds.costs) {
          yield [
            `${id} at ${name} costs ${cost}`,
            here((next, self) => finish(self, ownerIn(self), id, hold.amount, cost, mutation)),
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
          next.forgiven += record.over;
          for (const owner of [self.book, self.old]) {
            if (owner?.life === record.life) returnLostCharge(owner, record.parts);
          }
        }),
      ];
    }
    yield* journalSteps(world, node, here, mutation);
    yield* taskSteps(world, node, here, bounds, mutation);

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
        execute(next, command, mutation);
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
          next.snapshot = {
            view: copyView(next.view),
            rows: new Map(next.rows),
            tasks: next.tasks,
          };
        },
      ];
    } else {
      yield [
        'the database goes back',
        (next) => {
          use(next, 'back');
          const { view: past, rows, tasks } = next.snapshot!;
          next.snapshot = null;
          // Connections break.
          next.late = [];
          for (const node of next.nodes) {
            if (node.flight === null) continue;
            node.flight = null;
            lose(node.book);
          }
          next.view = { ...past, now: next.view.now };
          for (const [id, { amount }] of tasks) if (!next.tasks.has(id)) next.reopened += amount;
          next.rows = rows;
          next.tasks = tasks;
          breakCreations(next);
        },
      ];
    }
  }
  for (const [at, node] of world.nodes.entries()) {
    for (const creation of node.creations) {
      if (creation.state !== 'under way') continue;
      yield [
        `the task ${creation.id} is created`,
        (next) => create(next, next.nodes[at]!, creation, mutation),
      ];
      if (!may('fail')) continue;
      yield [
        `the task ${creation.id} is not created`,
        (next) => {
          use(next, 'fail');
          decided(next.nodes[at]!, creation, 'rolled back');
        },
      ];
    }
  }
  for (const [id, { amount }] of world.tasks) {
    for (const cost of bounds.costs) {
      const charge = chargeFor(cost, amount);
      yield [`the task ${id} ends and costs ${cost}`, (next) => endTask(next, id, charge)];
    }
  }
}

/** What a node does about its task. */
function* taskSteps(
  world: World,
  { name, book, creations, kept }: Node,
  here: (run: (next: World, node: Node) => void) => (next: World) => void,
  bounds: Bounds,
  mutation: Mutation,
): Generator<Step> {
  if (bounds.hasTask === true && book.holds.get('r0')?.isVoid === false) {
    yield [`r0 at ${name} becomes a task`, here((_, self) => keep(self, 'r0'))];
  }
  for (const creation of creations) {
    if (creation.state === 'under way') continue;
    yield [
      `${name} hears that the task ${creation.id} is ${creation.state}`,
      here((_, self) => hearOfTask(self, creation)),
    ];
  }
  for (const creation of kept) {
    if (world.snapshot !== null || mutation.neverAsks === true) continue;
    yield [
      `${name} asks for the task ${creation.id}`,
      here((next, self) => ask(next, self, creation)),
    ];
  }
}
