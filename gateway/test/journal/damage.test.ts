import { appendFileSync, cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { seal } from '#journal/batch.ts';
import { openJournalFile } from '#journal/journal-file.repository.ts';
import { openMarkFile, type Place } from '#journal/mark.ts';
import { findPlaces } from '#journal/places.ts';
import { readOn, type Loss } from '#journal/read-on.ts';
import { lineVersion } from '#usage/index.ts';
import { leaveKilledJournal, lineOf, newFolder } from './killed-journal.ts';
import { writeOlderJournal } from './older-journal.ts';

/** One record per batch. */
const count = 20;
const linesById = new Map(
  Array.from({ length: count }, (_, at) => [`req_${at + 1}`, lineOf(at + 1)]),
);

let killed: Record<'log' | 'file', string>;
beforeAll(() => {
  killed = { log: leaveKilledJournal(count, 'log'), file: leaveKilledJournal(count, 'file') };
});
afterAll(() => {
  for (const folder of Object.values(killed)) rmSync(folder, { recursive: true });
});

function copyOf(folder: string): string {
  const copy = newFolder();
  cpSync(folder, copy, { recursive: true });
  onTestFinished(() => rmSync(copy, { recursive: true, force: true }));
  return copy;
}

interface Found {
  readonly lines: readonly string[];
  readonly missing: number;
  readonly losses: readonly Loss[];
  /** What is missing at the end, as it is known before anything is read. */
  readonly missingAtEnd: number;
}

/** Everything from the beginning, as the applier reads it. */
function readAll(folder: string): Found {
  const file = openJournalFile(folder);
  const marks = openMarkFile(folder);
  const { end, applied, missing } = findPlaces(file, marks.read());
  const lines: string[] = [];
  const losses: Loss[] = [];
  let place: Place = applied;
  while (place.last < end.last) {
    const before = place;
    const reading = readOn(file, place, end, { mostRecords: 3, mostLength: 2 ** 20 });
    lines.push(...reading.batches.map((batch) => batch.lines));
    losses.push(...reading.losses);
    ({ place } = reading);
    expect(place).not.toEqual(before);
  }
  file.close();
  marks.close();
  return {
    lines,
    losses,
    missing: losses.reduce((sum, loss) => sum + loss.missing, 0),
    missingAtEnd: missing,
  };
}

function expectNothingSilent({ lines, missing }: Found): void {
  const known = new Set(linesById.values());
  expect(lines.filter((line) => !known.has(line))).toEqual([]);
  expect(new Set(lines).size + missing).toBe(count);
}

describe.each(['log', 'file'] as const)('what is in the %s', (where) => {
  test('is found whole after a kill', () => {
    const found = readAll(copyOf(killed[where]));
    expect(found).toMatchObject({ lines: [...linesById.values()], losses: [], missingAtEnd: 0 });
  });

  test('is never missed silently, whichever bit is wrong', { timeout: 120_000 }, () => {
    const name = where === 'log' ? 'journal.db-wal' : 'journal.db';
    const { length } = readFileSync(join(killed[where], name));
    const outcomes = { whole: 0, lost: 0, refused: 0 };
    for (let at = 0; at < 160; at += 1) {
      const folder = newFolder();
      cpSync(killed[where], folder, { recursive: true });
      flip(join(folder, name), Math.floor(((at + 0.5) / 160) * length), at % 8);
      try {
        const found = readAllOrRefuse(folder);
        if (found === null) outcomes.refused += 1;
        else {
          expectNothingSilent(found);
          outcomes[found.missing > 0 ? 'lost' : 'whole'] += 1;
        }
      } finally {
        rmSync(folder, { recursive: true });
      }
    }
    expect(outcomes.lost).toBeGreaterThan(40);
    expect(outcomes.refused).toBeLessThan(10);
  });
});

/** Null: the start is refused with a message. */
function readAllOrRefuse(folder: string): Found | null {
  try {
    return readAll(folder);
  } catch (error) {
    if ((error as { errcode?: number; cause?: { errcode?: number } }).errcode !== undefined)
      return null;
    if (String(error).includes('cannot be used')) return null;
    throw error;
  }
}

function flip(path: string, position: number, bit: number): void {
  const bytes = readFileSync(path);
  bytes[position]! ^= 1 << bit;
  writeFileSync(path, bytes);
}

test('an end that is cut off is counted at once and when it is read', () => {
  const folder = copyOf(killed.log);
  const log = readFileSync(join(folder, 'journal.db-wal'));
  writeFileSync(join(folder, 'journal.db-wal'), log.subarray(0, log.length / 2));
  const found = readAll(folder);
  expect(found.missing).toBeGreaterThan(2);
  expect(found.missingAtEnd).toBe(found.missing);
  expect(found.losses).toEqual([
    { first: count - found.missing + 1, missing: found.missing, reason: 'missing' },
  ]);
  expectNothingSilent(found);
});

test('a torn commit after the last acknowledged one is no loss', () => {
  const folder = copyOf(killed.log);
  appendFileSync(join(folder, 'journal.db-wal'), Buffer.alloc(5_000, 7));
  expect(readAll(folder)).toMatchObject({ lines: [...linesById.values()], losses: [] });
});

test('a journal that is gone has lost what was not applied', () => {
  const folder = copyOf(killed.file);
  rmSync(join(folder, 'journal.db'));
  expect(readAll(folder)).toMatchObject({
    lines: [],
    losses: [{ first: 1, missing: count, reason: 'missing' }],
    missingAtEnd: count,
  });
});

test('a gap in the middle is a loss of what was there', () => {
  const folder = copyOf(killed.file);
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec('delete from batches where id between 5 and 7');
  database.close();
  const found = readAll(folder);
  expect(found.losses).toEqual([{ first: 5, missing: 3, reason: 'missing' }]);
  expectNothingSilent(found);
});

test('a changed number is a loss, and what comes behind it is read', () => {
  const folder = copyOf(killed.file);
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec(`update batches set lines = replace(lines, '345', '346') where id = 5`);
  database.exec('update batches set id = 4000 where id = 9');
  database.close();
  const found = readAll(folder);
  expect(found.losses).toEqual([
    { first: 5, missing: 1, reason: 'damaged' },
    { first: 9, missing: 1, reason: 'missing' },
  ]);
});

test('without a mark everything that is there is read', () => {
  const folder = copyOf(killed.file);
  const database = new DatabaseSync(join(folder, 'journal.db'));
  database.exec('delete from batches where id <= 4');
  database.close();
  rmSync(join(folder, 'journal.mark'));
  expect(readAll(folder)).toMatchObject({ lines: [...linesById.values()].slice(4), losses: [] });
});

test('batches of an earlier version are counted, and read before those of this one', () => {
  const folder = newFolder();
  onTestFinished(() => rmSync(folder, { recursive: true }));
  // The last version that did not number its records.
  const older = [1, 2, 3].map((number) => ({ version: 5, lines: lineOf(number) }));
  writeOlderJournal(folder, older);
  const file = openJournalFile(folder);
  const marks = openMarkFile(folder);
  const { end, applied } = findPlaces(file, marks.read());
  expect([end.last, applied.last]).toEqual([3, 0]);
  marks.write({ end, applied });
  file.insert(seal({ version: lineVersion, count: 1, lines: lineOf(4), intents: null }, end));
  // The mark was not written before the kill.
  expect(findPlaces(file, marks.read()).end.last).toBe(4);
  file.close();
  marks.close();
  expect(readAll(folder)).toMatchObject({
    lines: [1, 2, 3, 4].map(lineOf),
    losses: [],
    missingAtEnd: 0,
  });
});
