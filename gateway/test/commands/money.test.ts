import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { migrate, openDatabase } from '#database/index.ts';
import { charge, keepPrice, record, recordAll, unpaidAttempt } from '../journal/records.ts';
import { createWorkplace } from './support.ts';

const file = `users: [{ email: ada@example.com, balance: 5 }]
teams: [{ name: research }]
`;

async function applied() {
  const workplace = createWorkplace(file);
  await workplace.sluice('apply');
  return workplace;
}

const why = ['--reason', 'invoice 7'] as const;

test('a user is created with a balance, once', async () => {
  const { json, sluice } = await applied();
  const options = '--name Eve --role admin --balance 12.5 --quota 7'.split(' ');
  expect(await json('user', 'create', 'Eve@example.com', ...options)).toEqual({
    id: expect.stringMatching(/^usr_/),
    email: 'eve@example.com',
    name: 'Eve',
    role: 'admin',
    balance: '12.5',
    quota: '7',
    groups: ['default'],
  });
  expect(await sluice('user', 'create', 'eve@example.com')).toEqual({
    code: 1,
    out: '',
    err: "sluice: user 'eve@example.com' already exists\n",
  });
  expect(await json('user', 'credit', 'eve@example.com', '1', ...why)).toMatchObject({
    balance: '13.5',
  });
});

test.each([
  [['nobody'], 'EMAIL: expected an e-mail address'],
  [['x@example.com', '--role', 'king'], '--role: expected'],
  [['x@example.com', '--balance', 'much'], '--balance: expected an amount in USD'],
  [['x@example.com', '--group', ' '], '--group: expected a group name'],
  [[], 'EMAIL is required'],
])('user create %j is a mistake in the command line', async (options, message) => {
  const { sluice } = await applied();
  const { code, err } = await sluice('user', 'create', ...options);
  expect(err).toContain(message);
  expect(code).toBe(2);
});

test('user create gives the groups that exist', async () => {
  const { sluice, json } = await applied();
  const unknown = await sluice('user', 'create', 'x@example.com', '--group', 'lab');
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("'lab'")]);
  expect(await json('user', 'create', 'x@example.com', '--group', 'default')).toMatchObject({
    groups: ['default'],
  });
});

const tooMuch = 'the credits of an account come to 1000000000 USD at most';

test('a credit and a correction stay in the ledger with actor and reason', async () => {
  const { sluice, json, folder } = await applied();
  expect(await json('user', 'credit', 'ADA@example.com', '2.5', ...why)).toEqual({
    transaction: expect.stringMatching(/^tx_/),
    user: 'ADA@example.com',
    amount: '2.5',
    balance: '7.5',
  });
  const taken = await sluice('user', 'credit', 'ada@example.com', '-0.000000001', ...why);
  expect(taken.out).toBe("user 'ada@example.com' now has a balance of 7.499999999 USD\n");
  const team = await sluice('team', 'credit', 'research', '100', ...why, '--actor', 'ops');
  expect(team.out).toBe("team 'research' now has a balance of 100 USD\n");

  const database = new DatabaseSync(join(folder, 'data/sluice.db'));
  const rows = database
    .prepare(
      "select amount, kind, actor, reason from ledger_entries where reason is not null and (account like 'user:%' or account like 'team:%') order by amount",
    )
    .all();
  database.close();
  const reason = 'invoice 7';
  expect(rows).toEqual([
    { amount: -1, kind: 'correction', actor: 'command line', reason },
    { amount: 2_500_000_000, kind: 'top-up', actor: 'command line', reason },
    { amount: 100_000_000_000, kind: 'top-up', actor: 'ops', reason },
  ]);
});

test.each([
  ['--reason=charged twice', '-0.5'],
  ['--json', '-0.5', '--reason', 'charged twice'],
  ['-0.5', '--reason=charged twice'],
])('a correction is accepted in any position: %s %s', async (...argv) => {
  const { sluice } = await applied();
  expect(await sluice('user', 'credit', 'ada@example.com', ...argv)).toMatchObject({
    code: 0,
    err: '',
  });
});

test.each([
  [['user', 'credit', 'eve@example.com', '1', ...why], 1, "user 'eve@example.com' does not exist"],
  [['team', 'credit', 'red', '1', ...why], 1, "team 'red' does not exist"],
  [['user', 'credit', 'ada@example.com', '1'], 2, '--reason is required'],
  [['user', 'credit', 'ada@example.com', '1', '--reason', ' '], 2, '--reason: expected a text'],
  [['user', 'credit', 'ada@example.com', '0', ...why], 2, 'AMOUNT: expected an amount in USD'],
  [['user', 'credit', 'ada@example.com', '1e3', ...why], 2, 'AMOUNT: expected an amount in USD'],
  [['user', 'credit', 'ada@example.com', '9999999999', ...why], 2, 'up to 1000000000 and'],
  [['user', 'credit', 'ada@example.com', ...why], 2, 'AMOUNT is required'],
  // Further credits could take the sum of all beyond 64 bits, and the account with it.
  [['user', 'credit', 'ada@example.com', '9000000000', ...why], 1, tooMuch],
  [['user', 'credit', 'ada@example.com', '999999996', ...why], 1, tooMuch],
  [['team', 'credit', 'research', '-1000000000.1', ...why], 1, tooMuch],
])('%j is refused', async (argv, code, message) => {
  const { sluice } = await applied();
  const outcome = await sluice(...argv);
  expect(outcome.err).toContain(message);
  expect(outcome.code).toBe(code);
});

async function used() {
  const workplace = await applied();
  const database = openDatabase({ url: `sqlite:${join(workplace.folder, 'data/sluice.db')}` });
  await migrate(database);
  await keepPrice(database);
  const time = Date.UTC(2026, 10, 21, 23);
  const records = [
    record('req_1', { time, charge: charge(10n) }),
    record('req_2', { time: time + 1, model: '=1+1', charge: charge(30n) }),
    record('req_3', { time: time + 2, model: 'a,"b"', outcome: 'failed' }),
    record('req_4', {
      time: time + 3_600_000,
      channel: 'other',
      attempts: [unpaidAttempt('openai-main', 4), ...record('').attempts],
      charge: charge(5n),
      usageSource: 'quarantined',
    }),
  ];
  await recordAll(database, records);
  await database.close();
  return workplace;
}

test('usage shows totals of everything that matches', async () => {
  const { sluice } = await used();
  const { out } = await sluice('usage', '--limit', '1');
  expect(out).toContain('\ntotal: 4 requests, 0.000000045 USD\nmore: --cursor ');
  const { out: other } = await sluice('usage', '--channel', 'other');
  expect(other).toContain('total: 1 request, 0.000000005');
  expect(other).toContain('0.000000005 (quarantined)');
  expect((await sluice('usage', '--model', 'none')).out).toContain('total: 0 requests, 0 USD\n');
  // A channel that is gone keeps its rows; a name that nothing has is a typing error.
  expect((await sluice('usage', '--channel', 'other')).err).toBe('');
  const names = ['--key', 'k', '--user', 'u@example.com', '--team', 't', '--channel', 'c'];
  expect(await sluice('usage', ...names)).toMatchObject({
    code: 0,
    err: "note: there is no key 'k'\nnote: there is no user 'u@example.com'\nnote: there is no team 't'\nnote: there is no channel 'c'\n",
  });
});

test('usage shows what clients wrote as text, without terminal control', async () => {
  const { sluice, folder } = await used();
  const database = openDatabase({ url: `sqlite:${join(folder, 'data/sluice.db')}` });
  const model = '\u001b[2J\u009b1m\u202egpt\nreq_9  forged\r\u2028';
  await recordAll(database, [record('req_odd', { time: Date.UTC(2026, 10, 22), model })]);
  await database.close();
  const { out } = await sluice('usage');
  expect(out).toContain(String.raw`\u001b[2J\u009b1m\u202egpt\u000areq_9  forged\u000d\u2028`);
  expect(out).not.toMatch(/[^\n\P{C}]|\p{Zl}/u);
  // The heading, five requests, the total.
  expect(out.trimEnd().split('\n')).toHaveLength(7);
});

test('usage exports everything as CSV that no spreadsheet takes for a formula', async () => {
  const { sluice } = await used();
  const lines = (await sluice('usage', '--csv')).out.split('\r\n');
  expect(lines[0]).toMatch(/^id,time,key,user,team,model,channel,/);
  expect(lines.map((line) => line.split(',')[0])).toEqual([
    'id',
    'req_4',
    'req_3',
    'req_2',
    'req_1',
    '',
  ]);
  expect(lines[2]).toContain(',"a,""b""",');
  expect(lines[3]).toContain(",'=1+1,");
  expect(lines[4]).toContain('req_1,2026-11-21T23:00:00.000Z,key_1,usr_1,,gpt-5,openai-main,chat,');
  const limited = await sluice('usage', '--csv', '--limit', '2');
  expect(limited.out.split('\r\n')).toHaveLength(4);
});

test('usage shows how many refusals share a row, and counts each', async () => {
  const { sluice, folder } = await used();
  const database = openDatabase({ url: `sqlite:${join(folder, 'data/sluice.db')}` });
  const refused = { outcome: 'refused', status: 400, attempts: [], count: 140 } as const;
  await recordAll(database, [record('req_many', { time: Date.UTC(2026, 10, 22), ...refused })]);
  await database.close();
  expect((await sluice('usage', '--by', 'model')).out).toMatch(/^\(refused\) +140 +140 /m);
  const { out } = await sluice('usage');
  expect(out).toContain(' 400 refused × 140 ');
  expect(out).toContain(' 200 completed ');
  expect(out).toContain('\ntotal: 144 requests, ');
  const [heading, ...lines] = (await sluice('usage', '--csv')).out.split('\r\n');
  expect(heading).toMatch(
    /,count,images,layers,reference_images,input_image_tokens,output_image_tokens,video_ms,video_tokens,resolution,with_video,task,key_id,upstream_model,operation,client,stream,error,input_audio_tokens,output_audio_tokens,cache_read_audio_tokens,cache_read_image_tokens,usage_unread,quarantined$/,
  );
  expect(lines.find((line) => line.startsWith('req_many,'))).toMatch(
    /,140,,,,,,,,,,,key_\w+,[^,]*,generate,other,(true|false),[^,]*,,,,,,false$/,
  );
  expect(lines.find((line) => line.startsWith('req_1,'))).toMatch(
    /,1,,,,,,,,,,,key_\w+,[^,]*,generate,other,(true|false),[^,]*,,,,,,false$/,
  );
});

test('usage --unread has the requests alone whose upstream counted what nothing reads', async () => {
  const { sluice, json, folder } = await used();
  const database = openDatabase({ url: `sqlite:${join(folder, 'data/sluice.db')}` });
  const usageUnread = ['tool_usage.mcp', 'gadgets'];
  await recordAll(database, [record('req_odd', { time: Date.UTC(2026, 10, 22), usageUnread })]);
  await database.close();
  const { out } = await sluice('usage', '--unread');
  expect(out).toMatch(/ COST +UNREAD\n/);
  expect(out).toMatch(/ tool_usage\.mcp gadgets\n/);
  expect(out).toContain('\ntotal: 1 request, ');
  expect(await json('usage', '--unread')).toMatchObject({
    data: [{ id: 'req_odd', usage_unread: usageUnread }],
  });
  expect((await sluice('usage', '--unread', '--csv')).out).toMatch(
    /,tool_usage\.mcp gadgets,false\r\n$/,
  );
  for (const other of [['--by', 'model'], ['--unfinished']]) {
    const refused = await sluice('usage', '--unread', ...other);
    expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('expected no --')]);
  }
});

test('usage sums by the hour and by any dimension', async () => {
  const { sluice, json } = await used();
  const tokens = {
    cache_read: 1,
    cache_write: 2,
    cache_write_1h: 3,
    input: 10,
    output: 20,
    reasoning: 5,
  };
  expect(await json('usage', '--by', 'channel')).toEqual({
    data: [
      {
        channel: 'openai-main',
        requests: 3,
        failed: 1,
        refused: 0,
        tokens: {
          cache_read: 3,
          cache_write: 6,
          cache_write_1h: 9,
          input: 30,
          output: 60,
          reasoning: 15,
        },
        images: 0,
        video_ms: 0,
        video_tokens: 0,
        cost: '0.00000004',
        unbilled_tokens: 20,
        attempts: 5,
        failed_attempts: 0,
      },
      {
        channel: 'other',
        requests: 1,
        failed: 0,
        refused: 0,
        tokens,
        images: 0,
        video_ms: 0,
        video_tokens: 0,
        cost: '0.000000005',
        unbilled_tokens: 0,
        attempts: 0,
        failed_attempts: 0,
      },
    ],
    requests: 4,
    cost: '0.000000045',
  });
  const table = (await sluice('usage', '--by', 'channel')).out;
  expect(table).toMatch(
    /^CHANNEL +REQUESTS +FAILED +IN +OUT +COST +UNBILLED +IMAGES +VIDEO_MS +VIDEO_TOKENS +ATTEMPTS +FAILED_ATTEMPTS\n/,
  );
  expect(table).toMatch(/^openai-main +3 +1 +48 +60 +0.00000004 +20 +0 +0 +0 +5 +0$/m);
  expect(await json('usage', '--channel', 'other')).toMatchObject({
    data: [{ attempts: [{ channel: 'openai-main', usage: { output: 4 } }, {}] }],
  });
  const days = (await sluice('usage', '--by', 'day', '--csv')).out;
  expect(days).toBe(
    'day,requests,failed,in,out,cost,unbilled,images,video_ms,video_tokens,attempts,failed_attempts\r\n2026-11-21,3,1,48,60,0.00000004,0,0,0,0,3,0\r\n2026-11-22,1,0,16,20,0.000000005,20,0,0,0,2,0\r\n',
  );
  expect((await sluice('usage', '--by', 'key', '--from', '2026-11-22T00:00:00Z')).out).toContain(
    'total: 1 request, 0.000000005 USD\n',
  );
  expect(await json('usage', '--by', 'client', '--client', 'other')).toMatchObject({
    data: [{ client: 'other', requests: 4, cost: '0.000000045', unbilled_tokens: 20 }],
  });
  expect(await sluice('usage', '--by', 'mood')).toMatchObject({ code: 2 });
});

test('usage sums by two dimensions, and by days and months of a time zone', async () => {
  const { sluice, json } = await used();
  const pairs = (await sluice('usage', '--by', 'channel', '--by', 'day')).out;
  expect(pairs).toMatch(/^CHANNEL +DAY +REQUESTS /);
  const rowsOf = (text: string) =>
    text.match(/^[\w-]+ +[\w-]+ +\d+ /gm)?.map((row) => row.split(/ +/));
  expect(rowsOf(pairs)).toEqual([
    ['openai-main', '2026-11-21', '3', ''],
    // A failed attempt of the other channel's request.
    ['openai-main', '2026-11-22', '0', ''],
    ['other', '2026-11-22', '1', ''],
  ]);
  const inOther = await json('usage', '--by', 'day', '--by', 'channel', '--channel', 'other');
  expect(inOther).toMatchObject({ data: [{ day: '2026-11-22', channel: 'other', requests: 1 }] });
  const daysOf = async (zone: string, by = 'day') =>
    (
      (await json('usage', '--by', by, '--time-zone', zone)) as {
        data: { day?: string; month?: string; requests: number }[];
      }
    ).data.map(({ day, month, requests }) => [day ?? month, requests]);
  expect(await daysOf('UTC')).toEqual([
    ['2026-11-21', 3],
    ['2026-11-22', 1],
  ]);
  expect(await daysOf('America/New_York')).toEqual([['2026-11-21', 4]]);
  expect(await daysOf('America/New_York', 'month')).toEqual([['2026-11', 4]]);
});

test.each([
  [['--by', 'model', '--by', 'user', '--by', 'team'], '--by: expected one or two of them'],
  [['--user', 'a', '--user', 'b'], '--user: expected it once'],
  [['--by', 'model', '--time-zone', 'UTC'], '--time-zone: expected --by day or --by month'],
  [['--time-zone', 'UTC'], '--time-zone: expected --by day or --by month'],
  [['--by', 'day', '--time-zone', 'Mars'], '--time-zone: expected a time zone such as'],
])('usage %j is a mistake', async (args, message) => {
  const { code, err } = await createWorkplace(null).sluice('usage', ...args);
  expect([code, err]).toEqual([2, expect.stringContaining(message)]);
});

test('reconcile finds nothing, and then every alteration', async () => {
  const { sluice, json, folder } = await used();
  expect(await sluice('reconcile')).toEqual({
    code: 0,
    out: '4 rows, 2 hours, 2 transactions, 2 openings, 2 postings, 4 accounts, 4 meters, 1 key, 0 tasks: no differences\n',
    err: '',
  });
  expect(await json('reconcile', '--from', '2026-11-22T00:00:00Z')).toEqual({
    ok: true,
    checked: { rows: 1, hours: 1 },
    differences: 0,
    first: [],
    late: { rows: 0, usd: '0' },
  });
  const database = new DatabaseSync(join(folder, 'data/sluice.db'));
  database.exec("update usage set late = 10 where id in ('req_1', 'req_2')");
  expect((await sluice('reconcile')).out).toMatch(
    /^2 rows charged without a lease: 0.00000002 USD, by which limits may be exceeded\n.*: no differences\n$/,
  );
  database.exec('update usage set late = null');
  database.exec("update usage set receipt = '[]' where id = 'req_1'");
  database.close();
  const { code, out } = await sluice('reconcile');
  expect(code).toBe(1);
  expect(out).toMatch(/^receipt req_1: expected 0, found 10\n.*: 1 difference\n$/);
  const machine = await sluice('reconcile', '--json');
  expect(machine.code).toBe(1);
  expect(JSON.parse(machine.out)).toMatchObject({ ok: false, differences: 1 });
});

test('a credit with an idempotency key is booked once, and its key is for no other', async () => {
  const { sluice, json } = await applied();
  const credit = (...parts: string[]) => [...parts, ...why, '--idempotency-key', 'invoice-7'];
  const first = await json(...credit('user', 'credit', 'ada@example.com', '2.5'));
  expect(first).toMatchObject({ amount: '2.5', balance: '7.5' });
  const { transaction } = first as { transaction: string };
  expect(await json(...credit('user', 'credit', 'ada@example.com', '2.50'))).toEqual({
    transaction,
    user: 'ada@example.com',
    amount: '2.5',
    balance: '7.5',
    repeated: true,
  });
  expect(await sluice(...credit('user', 'credit', 'ada@example.com', '2.5'))).toMatchObject({
    code: 0,
    out: `booked before as ${transaction}; user 'ada@example.com' has a balance of 7.5 USD\n`,
  });
  for (const other of [
    ['user', 'credit', 'ada@example.com', '2.6'],
    ['team', 'credit', 'research', '2.5'],
  ]) {
    expect(await sluice(...credit(...other))).toMatchObject({
      code: 1,
      err: "sluice: the idempotency key 'invoice-7' belongs to another credit\n",
    });
  }
  expect(await sluice('reconcile')).toMatchObject({ code: 0 });
});
