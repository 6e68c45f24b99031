import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createLives, type Lives } from '#nodes/index.ts';
import { isSkipped, openTestDatabase } from '../database/databases.ts';

describe.skipIf(isSkipped('postgres'))('the lives of a data folder', () => {
  let opened: Awaited<ReturnType<typeof openTestDatabase>>;
  let dataDir: string;
  let running: Lives[];
  let logged: string[];
  beforeAll(async () => {
    opened = await openTestDatabase('postgres');
  });
  afterAll(() => opened?.close());
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'sluice-lives-'));
    running = [];
    logged = [];
  });
  afterEach(async () => {
    for (const lives of running) await lives.close();
    rmSync(dataDir, { recursive: true });
  });

  function start(database = opened.database): Lives {
    const log = { warn: (message: string) => void logged.push(message) };
    const lives = createLives({ database, dataDir, log, onFreed: () => {} });
    running.push(lives);
    return lives;
  }

  /** A life that has just given a sign. */
  async function sign(life: string): Promise<string> {
    const now = sql<number>`(extract(epoch from clock_timestamp()) * 1000)::bigint`;
    await opened.database.kysely
      .insertInto('lives')
      .values({
        id: life,
        node: 'node_1',
        number: 0,
        generation: 0,
        seen_at: now,
        closed: 0,
        age: 600_000,
      })
      .execute();
    return life;
  }

  const isClosed = async (life: string): Promise<boolean> => {
    const { kysely } = opened.database;
    const found = await kysely
      .selectFrom('lives')
      .select('closed')
      .where('id', '=', life)
      .execute();
    return found[0]?.closed === 1;
  };

  const journal = { caughtUp: Promise.resolve(), depth: 0, appliedUntil: 0 };

  test('are closed at once after a crash, and in a clone of the disk once their process is silent', async () => {
    const before = start();
    const elsewhere = await sign(before.begin());
    const ended = await sign(before.begin());
    const file = join(dataDir, 'lives');
    // The disk of this folder was cloned while the first process ran on the machine of the original.
    writeFileSync(file, readFileSync(file, 'utf8').replace(/ \S+\//, ' other-run/'));
    start().follow(journal);
    await expect.poll(() => isClosed(ended)).toBe(true);
    expect(await isClosed(elsewhere)).toBe(false);
    await opened.database.kysely
      .updateTable('lives')
      .set({ seen_at: sql<number>`seen_at - 60000` })
      .where('id', '=', elsewhere)
      .execute();
    await expect.poll(() => isClosed(elsewhere), { timeout: 20_000 }).toBe(true);
    await expect.poll(() => readFileSync(file, 'utf8')).toBe('');
    expect(logged).toEqual([]);
  });

  test('that cannot be given back are named in the log', async () => {
    const life = await sign(start().begin());
    const broken = await openTestDatabase('postgres');
    await broken.close();
    start(broken.database).follow(journal);
    await expect.poll(() => logged).toContain('could not return leases of stopped processes');
    expect(await isClosed(life)).toBe(false);
  });
});
