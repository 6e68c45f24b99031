import { expect, onTestFinished, test } from 'vitest';
import { openTestDatabase } from '#test/database/databases.ts';
import { charge, keepPrice, record, recordAll } from '#test/journal/records.ts';

test('a record counts once, whatever it is written with', async () => {
  const { database, close } = await openTestDatabase('sqlite');
  onTestFinished(close);
  await keepPrice(database);
  const priced = (id: string) => record(id, { charge: charge(7n) });
  const written = [
    await recordAll(database, [priced('a'), priced('b')]),
    await recordAll(database, [priced('b'), priced('c')]),
    await recordAll(database, [priced('c'), priced('a')]),
    await recordAll(database, [priced('d'), priced('d')]),
  ];
  expect(written).toEqual([2, 1, 0, 1]);
  const hours = await database.kysely
    .selectFrom('usage_hourly')
    .select(['requests', 'cost'])
    .execute();
  expect(hours).toEqual([{ requests: 4, cost: 28n }]);
});
