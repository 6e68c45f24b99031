import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { costsBy, groupUsage, type NameFilters } from '#usage/index.ts';
import { countQueries } from '../database/count-queries.ts';
import { dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { fillHouse } from './large-house.ts';

const day = 86_400_000;
const newest = Date.UTC(2026, 5, 18, 15, 40);
/** Whole days in the middle, and hours at both ends. */
const range = { from: Date.UTC(2026, 4, 20, 7), to: Date.UTC(2026, 5, 18, 15) };

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('costs of people and teams', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    beforeEach(async () => {
      opened = await openTestDatabase(dialect);
      const size = { users: 40, keys: 12, teams: 4, rows: 900, audit: 1 };
      await fillHouse(opened.database, size, newest);
    });
    afterEach(() => opened.close());

    test.each<[string, 'user' | 'team', NameFilters & { readonly from?: number }]>([
      ['every person', 'user', {}],
      ['every team', 'team', {}],
      ['of one day', 'team', { from: range.to - day }],
      ['the people whom a team pays for', 'user', { team: 'team_1' }],
      ['some people', 'user', { userIds: ['usr_7', 'usr_9'] }],
      ['nobody', 'user', { userIds: [] }],
    ])('are those of the sums: %s', async (_, dimension, filter) => {
      const { kysely } = opened.database;
      const counter = countQueries();
      const costs = await costsBy(kysely.withPlugin(counter), dimension, { ...range, ...filter });
      const { groups } = await groupUsage(kysely, {
        ...range,
        ...filter,
        by: [dimension],
        metric: 'cost',
        first: 1_000,
        timeZone: 'UTC',
      });
      expect(Object.fromEntries(costs)).toEqual(
        Object.fromEntries(
          groups.map(({ names, requests, cost }) => [names[0], { requests, cost }]),
        ),
      );
      if (filter.userIds === undefined) expect(costs.size).toBeGreaterThan(3);
      else {
        // A page of people reads what these people have used.
        expect([...costs.keys()].toSorted()).toEqual(filter.userIds);
        expect(counter.rows).toBe(filter.userIds.length);
      }
    });
  });
});
