/** Lives through a full disk, as a limit on the size of files, and prints what it saw as JSON. */
import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { openJournal } from '#journal/index.ts';
import { charge, record } from './records.ts';

const [dataDir = '', databaseUrl = ''] = process.argv.slice(2);
const limitFiles = (size: string) =>
  execFileSync('prlimit', ['--pid', String(process.pid), `--fsize=${size}:unlimited`]);

const journal = await openJournal({ dataDir, databaseUrl, maxSize: 2 ** 30 });
const acknowledged: string[] = [];
async function appendUntilRefused(prefix: string, most: number): Promise<string | null> {
  for (let number = 0; number < most; number++) {
    const id = `${prefix}_${number}`;
    try {
      await journal.append(record(id, { userAgent: 'x'.repeat(250), charge: charge(1n) }));
      acknowledged.push(id);
    } catch (error) {
      return (error as Error).message;
    }
  }
  return null;
}

await appendUntilRefused('before', 20);
limitFiles('300000');
const refusal = await appendUntilRefused('during', 5_000);
const usableWhileFull = journal.usable;
limitFiles('unlimited');
while (!journal.usable) await wait(20);
const refusalAfter = await appendUntilRefused('after', 20);
await journal.close(10_000);

process.stdout.write(
  JSON.stringify({ refusal, usableWhileFull, refusalAfter, depth: journal.depth, acknowledged }),
);
