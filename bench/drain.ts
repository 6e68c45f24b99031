import { mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parseArgs } from 'node:util';
import { migrate, openDatabase } from '../gateway/src/store/database/index.ts';
import { seal, type End } from '../gateway/src/store/journal/batch.ts';
import { openJournal } from '../gateway/src/store/journal/index.ts';
import { openJournalFile } from '../gateway/src/store/journal/journal-file.repository.ts';
import { beginning } from '../gateway/src/store/journal/mark.ts';
import { lineVersion, toLine, type ExchangeRecord } from '../gateway/src/store/usage/index.ts';

/*
 * How fast a journal with a backlog of some size is moved into the database, from the start of the process on. Runs by
 * itself: `node bench/drain.ts --sizes 10MiB,1GiB`, with `--database postgres://…` for an empty database of PostgreSQL.
 */

const { values } = parseArgs({
  options: {
    sizes: { type: 'string', default: '10MiB,1GiB' },
    database: { type: 'string' },
    /** Records of one commit. */
    batch: { type: 'string', default: '20' },
  },
});

const keys = 1_000;
const perBatch = Number(values.batch);

function bytesOf(size: string): number {
  const [, number, unit = ''] = /^(\d+)(KiB|MiB|GiB)?$/.exec(size) ?? [];
  if (number === undefined) throw new Error(`--sizes: expected sizes such as 10MiB, got ${size}`);
  return Number(number) * 1024 ** ['', 'KiB', 'MiB', 'GiB'].indexOf(unit);
}

function recordOf(number: number, prefix: string): ExchangeRecord {
  const time = 1_790_000_000_000 + number;
  const cost = String(1_000 + (number % 1_000));
  return {
    id: `req_${prefix}_${String(number).padStart(9, '0')}`,
    time,
    keyId: `key_${number % keys}`,
    userId: `usr_${number % keys}`,
    teamId: null,
    group: 'default',
    model: 'gpt-5',
    upstreamModel: 'gpt-5',
    channel: 'openai-main',
    protocol: 'chat',
    operation: 'generate',
    stream: true,
    outcome: 'completed',
    status: 200,
    error: null,
    attempts: [
      {
        channel: 'openai-main',
        class: 'shown',
        status: 200,
        result: 'completed',
        startedAt: time,
        durationMs: 340,
        upstreamRequestId: 'chatcmpl-0123456789',
      },
    ],
    tokens: { input: 100, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 50, reasoning: 0 },
    usageSource: 'reported',
    ttftMs: 120,
    durationMs: 345,
    rewrites: [],
    losses: [],
    userAgent: 'bench/1',
    charge: {
      payer: 'user',
      cost,
      held: '1000000',
      overshoot: '0',
      priceVersion: '00c0ffee00c0ffee',
      multiplier: '1',
      receipt: [{ part: 'output', quantity: 50, rate: '1000000' }],
      window: null,
    },
  };
}

/** Writes a backlog as the journal would have, in one transaction. Returns the number of its records. */
function fill(dataDir: string, size: number, prefix: string): number {
  openJournalFile(dataDir).close();
  const file = new DatabaseSync(path.join(dataDir, 'journal.db'));
  file.exec('pragma synchronous = off; begin');
  const insert = file.prepare(
    'insert into batches (id, version, count, lines, last, bytes, before, checksum) values (?, ?, ?, ?, ?, ?, ?, ?)',
  );
  let end: End = { ...beginning, checksum: 0 };
  while (end.bytes < size) {
    const lines = Array.from({ length: perBatch }, (_, at) =>
      toLine(recordOf(end.last + at, prefix)),
    ).join(',');
    const batch = seal({ version: lineVersion, count: perBatch, lines, intents: null }, end);
    const { id, version, count, last, bytes, before, checksum } = batch;
    insert.run(id, version, count, lines, last, bytes, before, checksum);
    end = batch;
  }
  file.exec('commit');
  file.close();
  return end.last;
}

for (const size of values.sizes.split(',')) {
  const bytes = bytesOf(size);
  const dataDir = mkdtempSync(path.join(tmpdir(), 'sluice-drain-'));
  const free = statfsSync(dataDir);
  if (free.bavail * free.bsize < bytes * 4)
    throw new Error(`${size}: the disk has too little room`);
  const databaseUrl = values.database ?? `sqlite:${path.join(dataDir, 'sluice.db')}`;
  const database = openDatabase({ url: databaseUrl, statementTimeout: 0 });
  await migrate(database);
  await database.close();
  const count = fill(dataDir, bytes, size);
  const begin = performance.now();
  const findsSpent = databaseUrl.startsWith('sqlite:');
  const journal = await openJournal({ dataDir, databaseUrl, maxSize: 2 ** 40, findsSpent });
  const opened = performance.now();
  if (findsSpent) await journal.spentWithLeftOver;
  const admits = performance.now();
  await journal.caughtUp;
  const seconds = (performance.now() - admits) / 1_000;
  await journal.close();
  process.stdout.write(
    `${size}: open after ${Math.round(opened - begin)} ms, admits after ${Math.round(admits - begin)} ms; ${count} records in ${seconds.toFixed(1)} s, ${Math.round(count / seconds)} per second\n`,
  );
  rmSync(dataDir, { recursive: true });
}
