import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { OpenDatabase } from '#database/index.ts';
import { seal, type End } from '#journal/batch.ts';
import { openJournal, type JournalProblem } from '#journal/index.ts';
import { openJournalFile } from '#journal/journal-file.repository.ts';
import { beginning, openMarkFile } from '#journal/mark.ts';
import { findPlaces } from '#journal/places.ts';
import { lineVersion, type StoredLines, toLine } from '#usage/index.ts';
import { openTestDatabase } from '../database/databases.ts';
import { writeOlderJournal } from './older-journal.ts';
import { charge, record } from './records.ts';
import { storedBatches } from '../usage/stored-lines.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let database: OpenDatabase;
let dataDir: string;
let problems: JournalProblem[];
beforeEach(async () => {
  opened = await openTestDatabase('sqlite');
  ({ database } = opened);
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-'));
  problems = [];
});
afterEach(async () => {
  await opened.close();
  rmSync(dataDir, { recursive: true });
});

const open = () =>
  openJournal({
    dataDir,
    databaseUrl: opened.url,
    maxSize: 2 ** 30,
    onProblem: (problem) => problems.push(problem),
  });

/** The last version that did not number its records. */
const lastWithoutNumbers = 5;

/** @param batches with `wrong`: what is stored instead of their version. */
function leaveBatches(batches: readonly (StoredLines & { readonly wrong?: number })[]): void {
  const older = batches.filter(({ version }) => version <= lastWithoutNumbers);
  if (older.length > 0) writeOlderJournal(dataDir, older);
  const file = openJournalFile(dataDir);
  let { end } = findPlaces(file, null);
  for (const { version, lines, wrong = version } of batches.slice(older.length)) {
    const count = lines.match(/"req_/g)?.length ?? 1;
    const sealed = seal({ version, lines, count, intents: null }, end);
    file.insert({ ...sealed, version: wrong });
    end = sealed;
  }
  file.close();
}

async function idsInDatabase(): Promise<string[]> {
  const rows = await database.kysely.selectFrom('usage').select('id').orderBy('id').execute();
  return rows.map(({ id }) => id);
}

test('a journal with lines of every version is applied', async () => {
  leaveBatches(storedBatches);
  const journal = await open();
  await journal.caughtUp;
  await journal.close(30_000);
  expect(await idsInDatabase()).toEqual(
    storedBatches.flatMap(({ version }) => [`req_${version}_a`, `req_${version}_b`]).toSorted(),
  );
  expect(problems).toEqual([]);
});

test('a line that does not fit its version is put aside, and the others are applied', async () => {
  const lines = toLine(record('req_good'));
  const short = JSON.stringify((JSON.parse(toLine(record('req_bad'))) as unknown[]).slice(0, 30));
  leaveBatches([...storedBatches, { version: lineVersion, lines: `${short},${lines}` }]);
  const journal = await open();
  await journal.caughtUp;
  await journal.close(30_000);
  const ids = storedBatches.flatMap(({ version }) => [`req_${version}_a`, `req_${version}_b`]);
  expect(await idsInDatabase()).toEqual([...ids, 'req_good'].toSorted());
  expect(problems.map(({ kind }) => kind)).toEqual(['record-rejected']);
});

test('a batch that is damaged as a whole is put aside as it is, and the others are applied', async () => {
  const damaged = `${toLine(record('req_bad'))}["req_cut_off`;
  const good = (id: string) => ({ version: lineVersion, lines: toLine(record(id)) });
  leaveBatches([good('req_1'), { version: lineVersion, lines: damaged }, good('req_2')]);
  const journal = await open();
  await journal.caughtUp;
  await journal.close(30_000);
  expect(await idsInDatabase()).toEqual(['req_1', 'req_2']);
  expect(problems).toEqual([{ kind: 'record-rejected', message: 'lines are not JSON' }]);
  const file = new DatabaseSync(join(dataDir, 'journal.db'));
  expect(file.prepare('select line from rejected').all()).toEqual([{ line: damaged }]);
  file.close();
});

// What a gateway has not understood it cannot bill, and must not drop: after a downgrade it does not start.
test('a journal with lines of a newer version is not opened, and keeps all of them', async () => {
  const older = { version: lineVersion, lines: toLine(record('req_1', { charge: charge(1n) })) };
  const newer = { version: lineVersion + 1, lines: `[${'1,'.repeat(80)}1]` };
  const left = openJournalFile(dataDir);
  let end: End = { ...beginning, checksum: 0 };
  for (const batch of [older, newer]) {
    const sealed = seal({ ...batch, count: 1, intents: null }, end);
    left.insert(sealed);
    end = sealed;
  }
  left.close();
  await expect(open()).rejects.toThrow(
    `${join(dataDir, 'journal.db')} is newer than this version (records of version ${lineVersion + 1}): run the newer version of sluice`,
  );
  expect(await idsInDatabase()).toEqual([]);
  const file = openJournalFile(dataDir);
  expect([...file.after(0)]).toMatchObject([older, newer]);
  file.close();
});

test('a journal of a newer version that the database has completely is emptied and used', async () => {
  const newer = { version: lineVersion + 1, lines: `[${'1,'.repeat(80)}1]`, intents: null };
  const batch = seal({ ...newer, count: 1 }, { ...beginning, checksum: 0 });
  const left = openJournalFile(dataDir);
  left.insert(batch);
  left.close();
  const marks = openMarkFile(dataDir);
  const { id, last, bytes } = batch;
  const place = { id, last, bytes };
  marks.write({ end: place, applied: place });
  marks.close();
  const journal = await open();
  await journal.append(record('req_1'));
  await journal.close(30_000);
  expect(await idsInDatabase()).toEqual(['req_1']);
  expect(problems).toEqual([]);
});

test('what no version can have written is put aside, and the others are applied', async () => {
  const good = (id: string) => ({ version: lineVersion, lines: toLine(record(id)) });
  const values = JSON.parse(toLine(record('req_odd', { charge: charge(1n) }))) as unknown[];
  const odd = JSON.stringify(values.map((value) => (Array.isArray(value) ? 7 : value)));
  leaveBatches([
    good('req_1'),
    // One bit of the version is wrong.
    { ...good('req_2'), wrong: lineVersion + 256 },
    { version: lineVersion, lines: odd },
    good('req_3'),
  ]);
  const journal = await open();
  await journal.caughtUp;
  await journal.close(30_000);
  expect(await idsInDatabase()).toEqual(['req_1', 'req_3']);
  expect(problems.map(({ kind }) => kind).toSorted()).toEqual([
    'record-rejected',
    'record-rejected',
    'records-missing',
  ]);
  expect(journal.depth).toBe(0);
});
