import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import {
  closeLives,
  holdForTask,
  newMeter,
  settleLeases,
  type LeasedPart,
  type LeaseRow,
  type LifeRow,
  type MeterRow,
} from '#leases/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';
import { holdForTask as holdInModel, release, settle } from './model/settle.ts';

/*
 * The gateway settles and releases leases by statements, for a batch of rows at once. The model that proves the protocol
 * does the same by functions, row by row. Both must have the same outcome.
 */

const meters = ['a', 'b'] as const;
const lives = ['open', 'closed', 'unknown'] as const;

const noMeter = {
  spent: 0n,
  credited: 0n,
  held: 0n,
  recall: 0,
  version: 0,
  ticket_life: null,
  ticket_id: null,
  ticket_until: null,
  short_life: null,
  short_id: null,
};

const lease = fc.record({
  meter: fc.constantFrom(...meters),
  life: fc.constantFrom('open', 'closed'),
  drawn: fc.bigInt(0n, 100n),
  left: fc.bigInt(0n, 100n),
});
const part = fc.record({
  meter: fc.constantFrom(...meters),
  life: fc.constantFrom(...lives),
  part: fc.bigInt(1n, 50n),
});
const batch = fc.record({
  leases: fc.uniqueArray(lease, { selector: ({ meter, life }) => `${meter} ${life}` }),
  parts: fc.array(part, { maxLength: 6 }),
});

interface Rows {
  readonly meters: Map<string, MeterRow>;
  readonly leases: Map<string, Map<string, LeaseRow>>;
  readonly lives: Map<string, LifeRow>;
}

describe.skipIf(isSkipped('postgres'))('statements and functions', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let database: OpenDatabase;
  beforeAll(async () => {
    opened = await openTestDatabase('postgres');
    ({ database } = opened);
  });
  afterAll(() => opened.close());

  async function store(rows: Rows): Promise<void> {
    const { kysely } = database;
    for (const table of ['leases', 'lives', 'spent_totals'] as const) {
      await kysely.deleteFrom(table).execute();
    }
    for (const [meter, { leased }] of rows.meters) {
      await kysely
        .insertInto('spent_totals')
        .values({ ...noMeter, meter, leased })
        .execute();
    }
    for (const [id, { closed }] of rows.lives) {
      const given = { id, node: '', number: 0, generation: 0, seen_at: 0, age: 1 };
      await kysely
        .insertInto('lives')
        .values({ ...given, closed: closed ? 1 : 0 })
        .execute();
    }
    for (const [meter, of] of rows.leases) {
      for (const [life, { drawn, settled, answered }] of of) {
        const given = { meter, life, drawn, settled, answered };
        await kysely.insertInto('leases').values(given).execute();
      }
    }
  }

  async function stored() {
    const { kysely } = database;
    const totals = await kysely
      .selectFrom('spent_totals')
      .select(['meter', 'leased', 'held'])
      .execute();
    const leases = await kysely.selectFrom('leases').selectAll().execute();
    const known = await kysely.selectFrom('lives').select('id').execute();
    return {
      leased: totals.map(({ meter, leased, held }) => `${meter} ${leased} ${held}`).toSorted(),
      leases: leases
        .map((row) => `${row.meter} ${row.life} ${row.drawn} ${row.settled}`)
        .toSorted(),
      lives: known.map(({ id }) => id).toSorted(),
    };
  }

  test('settle and release alike', async () => {
    await fc.assert(
      fc.asyncProperty(batch, async ({ leases, parts }) => {
        const rows = rowsOf(leases);
        await store(rows);
        const view = { ...rows, limits: new Map(), generation: 0, generationAt: 0, now: 0 };
        await database.kysely.transaction().execute((trx) => settleLeases(trx, parts));
        settleAll(view, parts);
        expect(await stored()).toEqual(textOf(rows));

        await closeLives(database, ['open', 'closed']);
        for (const life of ['open', 'closed']) release(view, life);
        expect(await stored()).toEqual(textOf(rows));
      }),
      { numRuns: 40 },
    );
  });

  test('move the hold of a task alike, or refuse it', async () => {
    const life = fc.constantFrom(...lives);
    const hold = fc.record({ life, amount: fc.bigInt(1n, 50n) });
    await fc.assert(
      fc.asyncProperty(batch, hold, async ({ leases }, { life: of, amount }) => {
        const rows = rowsOf(leases);
        await store(rows);
        const view = { ...rows, limits: new Map(), generation: 0, generationAt: 0, now: 0 };
        const parts = new Map(meters.map((meter) => [meter, amount]));
        const isHeld = holdInModel(view, { life: of, amount, parts });
        const lease = { life: of, parts: meters.map(() => String(amount)) };
        const held = database.kysely
          .transaction()
          .execute((trx) => holdForTask(trx, { meters, amount, lease }));
        if (isHeld) await held;
        else await expect(held).rejects.toThrow('unavailable');
        expect(await stored()).toEqual(textOf(rows));
      }),
      { numRuns: 40 },
    );
  });
});

function rowsOf(
  given: readonly { meter: string; life: string; drawn: bigint; left: bigint }[],
): Rows {
  const rows: Rows = {
    meters: new Map(meters.map((meter) => [meter, newMeter(0n)])),
    leases: new Map(meters.map((meter) => [meter, new Map()])),
    lives: new Map(
      ['open', 'closed'].map((life) => [
        life,
        { number: 0, generation: 0, seenAt: 0, closed: life === 'closed' },
      ]),
    ),
  };
  for (const { meter, life, drawn, left } of given) {
    const amount = left < drawn ? left : drawn;
    rows.leases.get(meter)!.set(life, { drawn, settled: drawn - amount, answered: 0 });
    rows.meters.get(meter)!.leased += amount;
  }
  return rows;
}

function settleAll(view: Parameters<typeof settle>[0], parts: readonly LeasedPart[]): void {
  for (const { meter, life, part: amount } of parts) {
    settle(view, { life, cost: amount, parts: new Map([[meter, amount]]) });
  }
}

function textOf({ meters: totals, leases, lives: known }: Rows) {
  return {
    leased: Array.from(
      totals,
      ([meter, { leased, held }]) => `${meter} ${leased} ${held}`,
    ).toSorted(),
    leases: Array.from(leases, ([meter, of]) =>
      Array.from(of, ([life, { drawn, settled }]) => `${meter} ${life} ${drawn} ${settled}`),
    )
      .flat()
      .toSorted(),
    lives: [...known.keys()].toSorted(),
  };
}
