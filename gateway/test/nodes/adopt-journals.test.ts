import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openJournal } from '#journal/index.ts';
import {
  adoptJournals,
  createNodeRegistry,
  journalFolders,
  readNodeId,
  workerFolder,
} from '#nodes/index.ts';
import { openTestDatabase } from '../database/databases.ts';
import { record } from '../journal/records.ts';

let opened: Awaited<ReturnType<typeof openTestDatabase>>;
let dataDir: string;
let logged: string[];
beforeEach(async () => {
  opened = await openTestDatabase('sqlite');
  dataDir = mkdtempSync(join(tmpdir(), 'sluice-adopt-'));
  logged = [];
});
afterEach(async () => {
  await opened.close();
  rmSync(dataDir, { recursive: true });
});

const nowhere = 'postgres://nobody@127.0.0.1:1/nothing';

/** What a worker that was killed leaves behind. */
async function leaveBehind(number: number, ids: readonly string[]): Promise<string> {
  const folder = workerFolder(dataDir, number);
  const journal = await openJournal({ dataDir: folder, maxSize: 2 ** 30, databaseUrl: nowhere });
  for (const id of ids) await journal.append(record(id));
  await journal.close(50);
  return folder;
}

const adopt = (folders: readonly string[], databaseUrl = opened.url) =>
  adoptJournals({
    folders,
    database: opened.database,
    databaseUrl,
    log: {
      info: (message) => void logged.push(message),
      warn: (message) => void logged.push(message),
      error: (message) => void logged.push(message),
    },
  });

async function applied(): Promise<string[]> {
  const rows = await opened.database.kysely
    .selectFrom('usage')
    .select('id')
    .orderBy('id')
    .execute();
  return rows.map(({ id }) => id);
}

it('finds the journals of workers and nothing else', async () => {
  await leaveBehind(1, []);
  await leaveBehind(12, []);
  mkdirSync(join(dataDir, 'worker-3'));
  mkdirSync(join(dataDir, 'worker-x'));
  writeFileSync(join(dataDir, 'worker-4'), '');
  expect(journalFolders(dataDir).toSorted()).toEqual([
    join(dataDir, 'worker-1'),
    join(dataDir, 'worker-12'),
  ]);
  expect(journalFolders(join(dataDir, 'not-there'))).toEqual([]);
});

it('writes what was left to the database, once, and removes the nodes from the list', async () => {
  const folders = [
    await leaveBehind(1, ['req_1', 'req_2']),
    await leaveBehind(2, []),
    await leaveBehind(3, ['req_3']),
  ];
  for (const folder of folders) {
    const node = createNodeRegistry({
      database: opened.database,
      id: readNodeId(folder),
      log: { info: () => {}, warn: () => {} },
    });
    await node.join({ depth: 2 });
    await node.close();
  }
  const nodes = () => opened.database.kysely.selectFrom('nodes').select('id').execute();
  expect(await nodes()).toHaveLength(3);
  const adoption = adopt(folders);
  await adoption.finished;
  expect(adoption.problems).toEqual([]);
  expect(await applied()).toEqual(['req_1', 'req_2', 'req_3']);
  expect(await nodes()).toEqual([]);
  expect(logged).toEqual(['adopted a journal', 'adopted a journal']);
  await adopt(folders).finished;
  expect(await applied()).toHaveLength(3);
  expect(logged).toHaveLength(2);
});

it('leaves the journal of a live node alone, reports it, and continues with the next', async () => {
  const living = workerFolder(dataDir, 1);
  const journal = await openJournal({ dataDir: living, maxSize: 2 ** 30, databaseUrl: nowhere });
  await journal.append(record('req_living'));
  const dead = await leaveBehind(2, ['req_dead']);
  const missing = join(dataDir, 'not-there');
  const adoption = adopt([living, missing, dead]);
  await adoption.finished;
  expect(await applied()).toEqual(['req_dead']);
  expect(adoption.problems).toEqual([
    `could not adopt the journal in ${living}`,
    `could not adopt the journal in ${missing}`,
  ]);
  expect(logged.filter((message) => message === 'could not adopt a journal')).toHaveLength(2);
  await journal.close(50);
});

it('retries while the database is unreachable, and loses nothing when it is stopped', async () => {
  const folder = await leaveBehind(1, ['req_1']);
  const adoption = adopt([folder], nowhere);
  await expect.poll(() => adoption.problems).toEqual([`adopting the journal in ${folder}`]);
  await adoption.close();
  expect(await applied()).toEqual([]);
  await adopt([folder]).finished;
  expect(await applied()).toEqual(['req_1']);
});
