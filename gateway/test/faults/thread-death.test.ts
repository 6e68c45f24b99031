import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { nextRevision, type OpenDatabase } from '#database/index.ts';
import { openJournal, type Journal, type JournalProblem } from '#journal/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import { openGateway, until } from '../behaviour/support.ts';
import { dialects, isSkipped, openTestDatabase, type Dialect } from '../database/databases.ts';
import { charge, record } from '../journal/records.ts';
import { onePerProtocol } from '../matrix/gateway.ts';
import { testKey } from '../support/gateway.ts';
import { holdThreads } from '../support/threads.ts';
import { runClients } from './load.ts';
import { allRows, reconcileLogs } from './reconcile.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

interface Place {
  readonly journal: Journal;
  readonly database: OpenDatabase;
  readonly problems: JournalProblem[];
  readonly threads: ReturnType<typeof holdThreads>;
}

async function openPlace(dialect: Dialect): Promise<Place> {
  const threads = holdThreads();
  const opened = await openTestDatabase(dialect);
  const dataDir = mkdtempSync(join(tmpdir(), 'sluice-threads-'));
  const problems: JournalProblem[] = [];
  const journal = await openJournal({
    dataDir,
    databaseUrl: opened.url,
    maxSize: 2 ** 30,
    onProblem: (problem) => problems.push(problem),
  });
  onTestFinished(async () => {
    await journal.close();
    await opened.close();
    rmSync(dataDir, { recursive: true });
  });
  return { journal, database: opened.database, problems, threads };
}

async function idsIn({ kysely }: OpenDatabase): Promise<string[]> {
  const rows = await kysely.selectFrom('usage').select('id').execute();
  return rows.map(({ id }) => id);
}

/** Appends as fast as records are acknowledged, on a few lines at once, until stopped. */
function appendAlways(journal: Journal) {
  const stopped = new AbortController();
  let next = 0;
  const acknowledged: string[] = [];
  const refused: string[] = [];
  const lines = Array.from({ length: 8 }, async () => {
    while (!stopped.signal.aborted) {
      const id = `req_${(next += 1)}`;
      await journal.append(record(id, { charge: charge(1n) })).then(
        () => acknowledged.push(id),
        () => refused.push(id),
      );
      await wait(1);
    }
  });
  return {
    acknowledged,
    refused,
    async stop() {
      stopped.abort();
      await Promise.all(lines);
    },
  };
}

describe.each(dialects)('%s', (dialect) => {
  test.skipIf(isSkipped(dialect))(
    'dead journal threads are restarted: no acknowledged record is lost or doubled',
    async () => {
      const { journal, database, problems, threads } = await openPlace(dialect);
      const load = appendAlways(journal);
      for (let time = 0; time < 3; time += 1) {
        await wait(150);
        await threads.kill('sluice-journal-writer');
        await wait(150);
        await threads.kill('sluice-journal-applier');
      }
      await until(() => load.acknowledged.length > 100, 'enough was appended', 10_000);
      await load.stop();
      expect(load.refused).toEqual([]);
      await until(() => journal.depth === 0, 'everything is in the database', 10_000);
      expect((await idsIn(database)).toSorted()).toEqual(load.acknowledged.toSorted());
      expect(problems.filter(({ kind }) => kind === 'worker-ended')).toHaveLength(6);
      expect(journal.usable).toBe(true);
      const before = performance.now();
      expect(journal.appliedUntil).toBeGreaterThanOrEqual(before);
    },
  );
});

test('unacknowledged records of a dead writer are written again, and count once', async () => {
  const { journal, database, threads } = await openPlace('sqlite');
  await journal.append(record('req_first'));
  threads.loseResponse('sluice-journal-writer', 'done');
  const appended = journal.append(record('req_twice'));
  await wait(100);
  await threads.kill('sluice-journal-writer');
  await appended;
  await until(() => journal.depth === 0, 'everything is in the database');
  await wait(200);
  expect(journal.depth).toBe(0);
  expect(await idsIn(database)).toEqual(['req_first', 'req_twice']);
  // Nothing is left on disk: another writer has to know how far batches were numbered.
  await threads.kill('sluice-journal-writer');
  await journal.append(record('req_after'));
  await until(() => journal.depth === 0, 'the numbers of batches go on');
  expect(await idsIn(database)).toContain('req_after');
});

test('a writer that keeps dying leaves the journal unusable, and no request waiting', async () => {
  const { journal, threads } = await openPlace('sqlite');
  await journal.append(record('req_first'));
  for (let time = 0; time < 5; time += 1) {
    await journal.append(record(`req_${time}`));
    await threads.kill('sluice-journal-writer');
  }
  const late = record('req_late', { charge: charge(1n) });
  await expect(journal.append(late)).rejects.toMatchObject({
    errorName: 'unavailable',
  });
  expect(journal.usable).toBe(false);
});

test('a transaction interrupted by the database thread’s death leaves nothing, and the next one works', async () => {
  const threads = holdThreads();
  const opened = await openTestDatabase('sqlite');
  onTestFinished(() => opened.close());
  const { kysely } = opened.database;
  const revision = () => kysely.transaction().execute(nextRevision);
  const before = await revision();
  const failing = kysely.transaction().execute(async (trx) => {
    await nextRevision(trx);
    await threads.kill('sluice-sqlite');
    await nextRevision(trx);
  });
  const [outcome, next] = await Promise.allSettled([failing, revision()]);
  expect(outcome).toMatchObject({
    status: 'rejected',
    reason: { message: 'the transaction was rolled back by the database' },
  });
  expect(next).toEqual({ status: 'fulfilled', value: before + 1 });

  const waiting = revision();
  const [lost] = await Promise.allSettled([waiting, threads.kill('sluice-sqlite')]);
  expect(lost).toMatchObject({ reason: { message: 'the database thread ended' } });
  expect(await revision()).toBeGreaterThan(before + 1);
});

test('a gateway whose threads all die under load continues; the books are exact', async () => {
  const threads = holdThreads();
  const gateway = await openGateway({ logger: { error: () => {} } });
  const { app, url } = gateway;
  let wanted = true;
  let completed = 0;
  const load = runClients(
    {
      url,
      key: testKey,
      random,
      onCompleted: () => void (completed += 1),
      faults: ['', 'gap=3', 'delay=60'],
      leaving: 0.1,
      wanted: () => wanted,
    },
    6,
  );
  for (const name of ['journal-writer', 'sqlite', 'journal-applier', 'journal-writer', 'sqlite']) {
    await wait(200);
    await threads.kill(`sluice-${name}`);
  }
  const before = completed;
  await until(() => completed > before + 20, 'it continues to respond', 10_000);
  wanted = false;
  const seen = await load;
  await gateway.usage();
  expect(seen.filter(({ completed, left }) => !completed && !left)).toEqual([]);
  expect(seen.filter(({ completed }) => completed).length).toBeGreaterThan(20);
  const rows = await allRows(app.database);
  expect(reconcileLogs(seen, rows, gateway.simulator.requests())).toEqual([]);
  const differences: Difference[] = [];
  await reconcile(app.database, {}, (difference) => void differences.push(difference));
  expect(differences).toEqual([]);
  expect((await fetch(`${url}/ready`)).status).toBe(200);
});

test('a thread for large bodies that dies takes one request along, free of charge', async () => {
  const threads = holdThreads();
  const errors: string[] = [];
  const gateway = await openGateway({
    config: onePerProtocol,
    logger: { error: (message) => void errors.push(message) },
  });
  const content = 'lorem ipsum '.repeat(100_000);
  const body = JSON.stringify({ model: 'at-messages', messages: [{ role: 'user', content }] });
  const statuses: number[] = [];
  const stopped = new AbortController();
  const clients = Array.from({ length: 3 }, async () => {
    while (!stopped.signal.aborted) {
      const response = await gateway.post('/v1/chat/completions', body);
      await response.text();
      statuses.push(response.status);
    }
  });
  const kills = 3;
  for (let killed = 0; killed < kills; killed += 1) {
    const before = statuses.length;
    await until(() => statuses.length >= before + 3, 'bodies are read', 20_000);
    await threads.kill('sluice-bodies');
  }
  const before = statuses.length;
  await until(() => statuses.length >= before + 3, 'it continues', 20_000);
  stopped.abort();
  await Promise.all(clients);

  const failed = statuses.filter((status) => status !== 200);
  expect(failed.length).toBeLessThanOrEqual(kills);
  expect(failed.every((status) => status === 500)).toBe(true);
  expect(errors.filter((message) => message === 'a large-body thread exited')).toHaveLength(kills);
  const rows = await gateway.usage();
  expect(rows).toHaveLength(statuses.length);
  const unpaid = rows.filter(({ outcome }) => outcome !== 'completed');
  expect(unpaid.map(({ cost }) => cost ?? 0n)).toEqual(failed.map(() => 0n));
}, 60_000);
