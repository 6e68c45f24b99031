import { expect, test } from 'vitest';
import { createDatabaseBreaker } from '#database/index.ts';
import { createStateDirectory } from './state-directory.ts';

const day = 86_400_000;

test('a clock set forward by mistake does not open ids to everybody', () => {
  let wall = 1_000 * day;
  let elapsed = 0;
  const directory = createStateDirectory({
    database: {} as never,
    breaker: createDatabaseBreaker(),
    secrets: { digestState: (text) => text },
    now: () => wall,
    monotonic: () => elapsed,
  });
  const given = { id: 'id', channel: 'ch', credential: null, expiresAt: wall + 30 * day };
  directory.note({ ...given, owner: 'alice' });
  const standings = () => ['alice', 'bob'].map((owner) => directory.recall(owner, 'id').is);
  expect(standings()).toEqual(['own', 'foreign']);

  wall += 40 * day;
  expect(standings()).toEqual(['own', 'foreign']);
  wall -= 40 * day;
  elapsed += 30 * day;
  wall += 30 * day;
  expect(standings()).toEqual(['unknown', 'unknown']);
});
