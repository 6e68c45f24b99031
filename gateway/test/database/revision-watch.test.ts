import { sql } from 'kysely';
import { describe, expect, onTestFinished, test } from 'vitest';
import { upsertUser } from '#identity/index.ts';
import { createRevisionWatch, openDatabase, type OpenDatabase } from '#database/index.ts';
import { change, isSkipped, listenersOf, openTestDatabase, watchByHand } from './databases.ts';
import { user } from './samples.ts';

/** Milliseconds longer than any test: a watch with this interval polls only on request. */
const never = 2 ** 30;

/** A node that looks on, and another that makes changes. */
async function openPair(options: { readonly interval: number; readonly floor: number }) {
  const { database: writer, url, close } = await openTestDatabase('postgres');
  const database = openDatabase({ url });
  const watch = createRevisionWatch({ database, ...options });
  onTestFinished(async () => {
    watch.close();
    await database.close();
    await close();
  });
  await watch.poll();
  /** Resolves with the next revision that the node has heard of. */
  const heard = () => new Promise<number>((resolve) => listeners.push(resolve));
  const listeners: ((revision: number) => void)[] = [];
  watch.subscribe(async (revision) => {
    for (const resolve of listeners.splice(0)) resolve(revision);
    return true;
  });
  return { writer, watch, heard };
}

const addUser = (database: OpenDatabase, email: string) =>
  change(database, (file) => upsertUser(file, { ...user, email }));

const listens = (database: OpenDatabase) =>
  expect.poll(() => listenersOf(database), { timeout: 10_000 }).toHaveLength(1);

describe.skipIf(isSkipped('postgres'))('changes of another node', () => {
  test('arrive at once, without a poll', async () => {
    const { writer, watch, heard } = await openPair({ interval: never, floor: never });
    await listens(writer);
    let { revision } = watch;
    for (const email of ['a@example.com', 'b@example.com', 'c@example.com']) {
      const next = heard();
      await addUser(writer, email);
      expect(await next).toBe((revision += 1));
    }
  });

  test('arrive when they are committed, and not when they are rolled back', async () => {
    const { writer, watch, heard } = await openPair({ interval: never, floor: never });
    await listens(writer);
    const before = watch.revision;
    await expect(
      change(writer, async (file) => {
        await upsertUser(file, { ...user, email: 'gone@example.com' });
        throw new Error('given up');
      }),
    ).rejects.toThrow('given up');
    const next = heard();
    await change(writer, async (file) => {
      await upsertUser(file, { ...user, email: 'd@example.com' });
      // Longer than it would take to be heard of.
      await sql`select pg_sleep(0.2)`.execute(file.trx);
      expect(watch.revision).toBe(before);
    });
    expect(await next).toBe(before + 1);
  });

  test('missed while the connection was cut are found by the poll, and arrive at once again afterwards', async () => {
    const { writer, heard } = await openPair({ interval: 100, floor: never });
    await listens(writer);
    const [pid] = await listenersOf(writer);
    await sql`select pg_terminate_backend(${pid})`.execute(writer.kysely);
    const missed = heard();
    await addUser(writer, 'missed@example.com');
    await missed;

    await listens(writer);
    expect(await listenersOf(writer)).not.toContain(pid);
    const told = heard();
    await addUser(writer, 'told@example.com');
    await told;
  });

  test('are found by the poll if a connection seems to work but delivers nothing', async () => {
    const { database, close } = await openTestDatabase('postgres');
    const deaf = { kysely: database.kysely, listen: () => ({ works: true, close: () => {} }) };
    const watch = createRevisionWatch({ database: deaf, interval: never, floor: 100 });
    onTestFinished(async () => {
      watch.close();
      await close();
    });
    await watch.poll();
    const found = new Promise<number>((resolve) => {
      watch.subscribe(async (revision) => {
        resolve(revision);
        return true;
      });
    });
    const before = watch.revision;
    await addUser(database, 'found@example.com');
    expect(await found).toBe(before + 1);
  });
});

test('a listener that fails or is not ready is called again and delays no other', async () => {
  const { database, close } = await openTestDatabase('sqlite');
  onTestFinished(close);
  const watch = watchByHand(database);
  await watch.poll();
  const told: string[] = [];
  const outcomes: (() => boolean)[] = [
    () => {
      throw new Error('cannot be read');
    },
    () => false,
    () => true,
  ];
  const first = watch.subscribe(async () => {
    told.push('first');
    return outcomes.shift()?.() ?? true;
  });
  const second = watch.subscribe(async () => {
    told.push('second');
    return true;
  });
  const subscribed = first.upToDateAt;

  await addUser(database, 'e@example.com');
  await expect(watch.poll()).rejects.toThrow('cannot be read');
  expect(watch.problem).toMatchObject({ message: 'cannot be read' });
  expect(told).toEqual(['first', 'second']);
  expect(first.upToDateAt).toBe(subscribed);
  expect(second.upToDateAt).toBeGreaterThan(subscribed);

  await watch.poll();
  expect(watch.problem).toBeNull();
  expect(told).toEqual(['first', 'second', 'first']);
  expect(first.upToDateAt).toBe(subscribed);

  await watch.poll();
  await watch.poll();
  expect(told).toEqual(['first', 'second', 'first', 'first']);
  expect(first.upToDateAt).toBe(second.upToDateAt);
});
