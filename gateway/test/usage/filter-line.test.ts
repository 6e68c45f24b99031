import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { matches } from '#console-api/live/matches.ts';
import { upsertUser } from '#identity/index.ts';
import { entryOf, groupUsage, listUsage, nameWords, readFilterLine } from '#usage/index.ts';
import type { ExchangeRecord } from '#usage/index.ts';
import { change, dialects, isSkipped, openTestDatabase } from '../database/databases.ts';
import { user } from '../database/samples.ts';
import { charge, keepPrice, record, recordAll } from '../journal/records.ts';

const dollar = 1_000_000_000n;
const time = Date.UTC(2026, 10, 20, 5, 30);

/** Of each id what differs from a completed request. */
const requests: Readonly<Record<string, Partial<ExchangeRecord>>> = {
  fast: { model: 'claude-haiku', ttftMs: 120, durationMs: 900, charge: charge(dollar / 200n) },
  slow: { model: 'claude-opus', ttftMs: 2_500, durationMs: 61_000, charge: charge(dollar) },
  exact: { model: 'gpt-5', ttftMs: 2_000, durationMs: 2_000, charge: charge(dollar / 100n) },
  other: { model: 'a,b c', channel: 'azure', keyId: 'key_ci', teamId: 'team_red' },
  limited: {
    outcome: 'refused',
    status: 429,
    error: 'key_rate_limited',
    channel: null,
    attempts: [],
    ttftMs: null,
  },
  bad: { outcome: 'refused', status: 400, error: 'invalid_value', channel: null, ttftMs: null },
  down: { outcome: 'failed', status: 502, error: 'upstream_abnormal', ttftMs: null },
};
const all = Object.keys(requests);
const allBut = (...left: readonly string[]) => all.filter((id) => !left.includes(id));

const lines: readonly [line: string, ids: readonly string[]][] = [
  ['', all],
  ['status:400', ['bad']],
  ['status:>400', ['limited', 'down']],
  ['status:>=400', ['limited', 'bad', 'down']],
  ['status:<400', ['fast', 'slow', 'exact', 'other']],
  ['status:<=400', ['fast', 'slow', 'exact', 'other', 'bad']],
  ['status:4xx', ['limited', 'bad']],
  ['status:429,5xx', ['limited', 'down']],
  ['-status:4xx', ['fast', 'slow', 'exact', 'other', 'down']],
  ['status:>=400 -status:429', ['bad', 'down']],
  ['ttft:>2s', ['slow']],
  ['ttft:>=2s', ['slow', 'exact']],
  ['ttft:<2s ttft:>0', ['fast', 'other']],
  // What no model has begun to answer has no first token.
  ['-ttft:<=2s', ['slow', 'limited', 'bad', 'down']],
  ['ms:>1m', ['slow']],
  ['ms:2000', ['slow', 'exact']],
  ['ms:=2s', ['exact']],
  ['ms:<0.5s', ['other', 'limited', 'bad', 'down']],
  ['cost:>0.01', ['slow']],
  ['cost:>=0.01', ['slow', 'exact']],
  ['cost:0.01', ['slow', 'exact']],
  ['cost:<0.01', ['fast']],
  ['model:claude*', ['fast', 'slow']],
  [
    'model:claude-haiku,gpt-5',
    ['fast', 'slow', 'exact', 'limited', 'bad', 'down'].filter((id) => id !== 'slow'),
  ],
  ['-model:claude*,gpt-5', ['other']],
  ['model:"a,b c"', ['other']],
  ['channel:azure', ['other']],
  ['-channel:azure', allBut('other')],
  ['key:key_ci team:team_red', ['other']],
  ['-team:team_red', allBut('other')],
  ['user:ada@example.com', allBut()],
  ['user:ada*', allBut()],
  ['outcome:refused,failed', ['limited', 'bad', 'down']],
  ['asked:no', ['limited']],
  ['-asked:no', allBut('limited')],
  ['opus', ['slow']],
  ['OPUS', ['slow']],
  ['rate', ['limited']],
  ['-rate', allBut('limited')],
  ['azure', ['other']],
  ['ada', all],
  ['"b c"', ['other']],
  ['req_slow', ['slow']],
  ['claude -haiku', ['slow']],
  ['abnormal status:>=500', ['down']],
];

describe.each(dialects)('%s', (dialect) => {
  describe.skipIf(isSkipped(dialect))('a filter line', () => {
    let opened: Awaited<ReturnType<typeof openTestDatabase>>;
    let records: ExchangeRecord[];
    beforeAll(async () => {
      opened = await openTestDatabase(dialect);
      const { database } = opened;
      await keepPrice(database);
      await change(database, (file) => upsertUser(file, { ...user, email: 'ada@example.com' }));
      const { id: userId } = await database.kysely
        .selectFrom('users')
        .select('id')
        .executeTakeFirstOrThrow();
      records = Object.entries(requests).map(([id, parts]) =>
        record(`req_${id}`, { time, userId, ttftMs: 12, model: 'gpt-5', ...parts }),
      );
      await recordAll(database, records);
    });
    afterAll(() => opened.close());
    const sorted = (ids: readonly string[]) => ids.map((id) => `req_${id}`).toSorted();

    it.each(lines)('%j', async (line, ids) => {
      const terms = readFilterLine(line);
      const { data } = await listUsage(opened.database.kysely, { terms });
      expect(data.map(({ id }) => id).toSorted()).toEqual(sorted(ids));
      // Live rows are chosen without the database.
      const shown = records.filter((one) => {
        const entry = entryOf(one, { key: null, user: 'ada@example.com', team: null });
        const { userId: user_id, teamId: team_id } = one;
        return matches({ terms }, { ...entry, user_id, team_id, ended: entry });
      });
      expect(shown.map(({ id }) => id).toSorted()).toEqual(sorted(ids));
    });

    it.each([
      // Sums have no model for what was refused before an upstream was asked.
      ['-model:claude*,gpt-5', 2],
      ['channel:openai-main,azure', 5],
      ['-key:key_ci', 6],
      ['user:ada* -team:team_red', 6],
      ['client:other -model:gpt-5', 4],
    ])('of names, for sums: %j', async (line, count) => {
      const { total } = await groupUsage(opened.database.kysely, {
        terms: readFilterLine(line, nameWords),
        from: time - 5_400_000,
        to: time + 5_400_000,
        by: ['model'],
        metric: 'requests',
        first: 50,
        timeZone: 'UTC',
      });
      expect(total.requests).toBe(count);
    });
  });
});

it('shows what has not ended, as far as it is known', () => {
  const one = record('req_open', { userId: 'usr_1' });
  const { channel: _channel, ...row } = entryOf(one, { key: 'laptop', user: null, team: null });
  const shows = (line: string) =>
    matches({ terms: readFilterLine(line) }, { ...row, user_id: 'usr_1', team_id: null });
  expect(
    ['status:5xx', '-channel:azure', 'model:gpt*', 'key:laptop', 'laptop', 'ttft:>2s'].map(shows),
  ).toEqual(Array<boolean>(6).fill(true));
  expect(['model:claude', '-key:laptop', 'timeout'].map(shows)).toEqual([false, false, false]);
});

it.each([
  ['price:1', "'price:1' (character 1): there is no filter 'price'; there are model, key, user"],
  ['__proto__:x', "there is no filter '__proto__'"],
  ['key:a status:>abc', "'status:>abc' (character 7): expected a status such as 429"],
  ['status:>4xx', 'expected a status such as 429'],
  ['model:', "'model:' (character 1): a value is missing"],
  ['model:a,,b', 'a value is missing'],
  ['model:>5', 'expected a name; only numbers are compared'],
  ['cost:cheap', 'expected an amount in USD such as >0.01'],
  ['ms:>2d', 'expected a time such as >2s'],
  ['asked:maybe', 'expected yes or no'],
  ['key:"my laptop', 'the quotation mark is not closed'],
  ['-""', 'expected a word to search for'],
  [Array<string>(31).fill('x').join(' '), "'x' (character 61): a filter has at most 30 words"],
])('%j is refused with the place', (line, message) => {
  expect(() => readFilterLine(line)).toThrow(message);
});

it('sums are filtered by names only', () => {
  const inSums = (line: string) => () => readFilterLine(line, nameWords);
  expect(inSums('status:4xx')).toThrow(
    'sums are filtered by model, key, user, team, channel, client only',
  );
  expect(inSums('timeout')).toThrow('search for words in the list of requests');
});
