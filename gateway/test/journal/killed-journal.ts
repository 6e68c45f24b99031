import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { seal, type End } from '#journal/batch.ts';
import { openJournalFile } from '#journal/journal-file.repository.ts';
import { beginning, openMarkFile } from '#journal/mark.ts';
import { lineVersion, toLine } from '#usage/index.ts';
import { record } from './records.ts';

export const newFolder = () => mkdtempSync(join(tmpdir(), 'sluice-'));

/** Recent, so that retention keeps the rows. */
const time = Date.now();

/** Each third one is long enough to lie on several pages. */
export function lineOf(number: number): string {
  const losses = Array<string>(number % 3 === 0 ? 2_000 : 1).fill(`p${number}`);
  return toLine(record(`req_${number}`, { losses, time }));
}

/**
 * A folder as a killed gateway leaves it, with so many commits of one record each: in the write-ahead log, or in the file
 * itself.
 */
export function leaveKilledJournal(count: number, where: 'log' | 'file'): string {
  const folder = newFolder();
  const file = openJournalFile(folder);
  const marks = openMarkFile(folder);
  let end: End = { ...beginning, checksum: 0 };
  for (let number = 1; number <= count; number += 1) {
    const batch = seal(
      { version: lineVersion, count: 1, lines: lineOf(number), intents: null },
      end,
    );
    file.insert(batch);
    end = batch;
    marks.write({ end: { id: end.id, last: end.last, bytes: end.bytes }, applied: beginning });
    if (where === 'file') file.checkpoint();
  }
  const copy = newFolder();
  const log = where === 'log' ? ['journal.db-wal'] : [];
  for (const name of ['journal.db', 'journal.mark', ...log]) {
    cpSync(join(folder, name), join(copy, name));
  }
  file.close();
  marks.close();
  rmSync(folder, { recursive: true });
  return copy;
}
