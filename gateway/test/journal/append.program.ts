/** Appends records as fast as they are taken and prints the id of each acknowledged one, until it is killed. */
import { writeSync } from 'node:fs';
import { openJournal } from '#journal/index.ts';
import { record } from './records.ts';

const [dataDir = '', databaseUrl = '', prefix = ''] = process.argv.slice(2);
const journal = await openJournal({ dataDir, databaseUrl, maxSize: 2 ** 30 });
let number = 0;

async function client(): Promise<void> {
  for (;;) {
    const id = `${prefix}_${number++}`;
    await journal.append(record(id, { time: Date.now() }));
    // Synchronously: what was acknowledged must be known to the test even when the kill comes now.
    writeSync(1, `${id}\n`);
  }
}

await Promise.all(Array.from({ length: 8 }, client));
