import { expect, test } from 'vitest';
import { openTestDatabase } from '#test/database/databases.ts';
import { reconcile } from './reconcile.ts';

const ofRange = ['rows', 'hours'];
const ofAllTime = ['transactions', 'openings', 'postings', 'accounts', 'meters', 'keys', 'tasks'];

test('balances and totals, which cover all time, are checked without a range alone', async () => {
  const { database, close } = await openTestDatabase('sqlite');
  const checkedIn = async (from?: number, to?: number) =>
    Object.keys(await reconcile(database, { from, to }, () => {}));
  expect(await checkedIn()).toEqual([...ofRange, ...ofAllTime]);
  expect(await checkedIn(1)).toEqual(ofRange);
  expect(await checkedIn(undefined, 2)).toEqual(ofRange);
  expect(await checkedIn(1, 2)).toEqual(ofRange);
  await close();
});
