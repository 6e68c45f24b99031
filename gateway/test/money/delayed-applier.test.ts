import { noTokens } from '#canonical/index.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Caller } from '#identity/index.ts';
import {
  createBilling,
  createSpentSource,
  textBound,
  tokenLines,
  type Hold,
  type PriceRates,
} from '#billing/index.ts';
import type { Group, Model } from '#catalogue/index.ts';
import { createMemoryMoney } from '#limits/index.ts';
import { openDatabase } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { openJournal } from '#journal/index.ts';
import { spentOf } from '#ledger/index.ts';
import { blockWriters } from '../database/block-writers.ts';
import { dialects, isSkipped, openTestDatabase, type Dialect } from '../database/databases.ts';
import { record } from '../journal/records.ts';

/*
 * The journal's own applier, held up at random while others read the database; meters that are forgotten as soon as
 * nobody uses them; limits that come later; restarts. Whatever is admitted knows of everything that was spent before.
 */

/** More of them where the machine has the time. */
const runs = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 2 : 20;

const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ do: fc.constant('request'), who: fc.nat(3), output: fc.nat(50) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant('limit'), who: fc.nat(3), left: fc.nat(9) }),
  },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('wait'), ms: fc.nat(80) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'block' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'unblock' }) },
  { weight: 1, arbitrary: fc.constant({ do: 'restart' }) },
);

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'spending counts, in the database or not, forgotten or not',
    { timeout: 120_000 },
    async () => {
      await fc.assert(
        fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 40 }), async (steps) => {
          const world = await openWorld(dialect);
          try {
            for (const taken of steps) await world.take(taken);
          } finally {
            await world.close();
          }
        }),
        { numRuns: runs, endOnFailure: true },
      );
    },
  );
});

type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

async function openWorld(dialect: Dialect) {
  const { database, url, close } = await openTestDatabase(dialect);
  const blocker = openDatabase({ url });
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-delayed-'));
  const openProcess = async () => {
    const findsSpent = dialect === 'sqlite';
    const journal = await openJournal({ dataDir, databaseUrl: url, maxSize: 2 ** 30, findsSpent });
    const money = createMemoryMoney({
      now: Date.now,
      monotonic: () => performance.now(),
      spentSource: createSpentSource({
        ready: journal.caughtUp,
        early: journal.spentWithLeftOver,
        read: (meters) => spentOf(database.kysely, meters),
        patience: 50,
      }),
      appliedUntil: () => journal.appliedUntil,
      forgetting: { mostMeters: 0, idleMs: 20 },
    });
    return { journal, money, billing: createBilling({ money, now: Date.now }) };
  };
  let process = await openProcess();
  let unblock: (() => Promise<void>) | null = null;
  const spent = new Map<string, bigint>();
  let count = 0;

  /** @returns the name of the refusal when there is one. */
  async function hold(caller: Caller): Promise<Hold | string> {
    const { billing, money } = process;
    const id = `req_${(count += 1)}`;
    const demand = { bodyBytes: 10, outputLimit: 50, choices: 1 };
    const bound = (rates: PriceRates) => textBound(rates, model, demand);
    const order = { id, caller, model, group, bound };
    try {
      const held = await billing.hold({ ...order, expiresAt: Date.now() + 60_000 });
      if (held === null) throw new Error('it is not free');
      for (const name of held.meters) {
        expect(money.read(name), name).toMatchObject({ spentAmount: spent.get(name) ?? 0n });
      }
      return held;
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      return error.errorName;
    }
  }

  async function request(caller: Caller, output: number): Promise<void> {
    const { billing, journal } = process;
    const held = await hold(caller);
    // While the database lacks what the process before has left, nothing is known, and nothing admitted.
    if (typeof held === 'string') {
      expect(held).toBe('unavailable');
      return;
    }
    const charge = billing.charge(
      held,
      (rates) => tokenLines(rates, { ...noTokens, output }),
      'reported',
    );
    const { keyId, userId, teamId } = caller;
    await journal.append(record(held.id, { keyId, userId, teamId, charge }));
    billing.commitHold(held, charge);
    for (const name of held.meters) {
      spent.set(name, (spent.get(name) ?? 0n) + BigInt(charge.cost));
    }
  }

  async function limit(caller: Caller, left: bigint): Promise<void> {
    const quota = (spent.get(`key:${caller.keyId}:quota`) ?? 0n) + left;
    const held = await hold({ ...caller, quota });
    if (held === 'unavailable') return;
    if (left === 0n) expect(held).toBe('key_quota_exceeded');
    else expect(held).toMatchObject({ amount: left });
    if (typeof held !== 'string') process.billing.commitHold(held, null);
  }

  async function endBlock(): Promise<void> {
    await unblock?.();
    unblock = null;
  }

  return {
    async take(taken: Step): Promise<void> {
      if ('output' in taken) await request(callers[taken.who]!, taken.output);
      else if ('left' in taken) await limit(callers[taken.who]!, BigInt(taken.left));
      else if ('ms' in taken) await wait(taken.ms);
      else if (taken.do === 'block') unblock ??= await blockWriters(blocker);
      else if (taken.do === 'unblock') await endBlock();
      else {
        const closed = process.journal.close(20);
        await wait(40);
        await endBlock();
        await closed;
        process = await openProcess();
      }
    },
    async close() {
      await endBlock();
      await process.journal.close();
      await blocker.close();
      await close();
      rmSync(dataDir, { recursive: true });
    },
  };
}

const group: Group = { name: 'default', priceMultiplier: '1' };
const model = {
  id: 'm',
  type: 'chat',
  // 1 nano-USD per token out.
  price: { input: '0', output: '0.001' },
  priceVersion: 'v1',
  maxOutputTokens: 50,
  contextWindow: 10_000,
} as unknown as Model;

const user = { id: 'usr_1', funding: 10n ** 12n, quota: null };
const team = {
  id: 'team_1',
  name: 't',
  funding: 10n ** 12n,
  rpm: null,
  dailyBudget: null,
  monthlyBudget: null,
  totalBudget: null,
  enabled: true,
  unleasedMost: null,
  timeZone: 'UTC',
  openWindow: null,
};
const single: Caller = {
  keyId: 'key_1',
  keyName: 'k',
  userId: user.id,
  teamId: null,
  user,
  team: null,
  memberBudget: null,
  group: 'default',
  models: null,
  ips: [],
  expiresAt: null,
  quota: null,
  rpm: null,
  rph: null,
  maxConcurrency: null,
  conversion: 'lenient',
  capOutput: true,
  enabled: true,
};
const callers: readonly Caller[] = [
  single,
  { ...single, keyId: 'key_2' },
  { ...single, keyId: 'key_3', userId: 'usr_2', user: { ...user, id: 'usr_2' } },
  { ...single, keyId: 'key_4', teamId: team.id, team },
];
