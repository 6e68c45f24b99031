import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { answeredWords, answerWith, startOwnUpstream, usageAt } from '../support/own-upstream.ts';
import { onePerProtocolAt } from '../matrix/gateway.ts';
import { ask, attemptsOf, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/** Answers that are whole although they do not look quite like one, and the other way round. */
const own = await startOwnUpstream();
afterAll(() => own.close());
const notices: string[] = [];
const shared = shareGateway({
  config: onePerProtocolAt(own.url),
  logger: { warn: (message, fields) => void notices.push(JSON.stringify({ message, ...fields })) },
});
beforeEach(() => own.clear());

/** Each client at an upstream of its own protocol and at one of another. */
const cases = textProtocols.flatMap((client, at) =>
  [client.name, textProtocols[(at + 1) % textProtocols.length]!.name].flatMap((upstream) =>
    [false, true].map((stream) => ({ client, upstream, stream })),
  ),
);

describe.each(cases)('$client.name at $upstream, streamed: $stream', (asked) => {
  const { client, upstream, stream } = asked;
  const askIt = () => ask(shared.gateway, client, stream, `at-${upstream}`);

  test.each([201, 299])('a %d with a response is a response', async (status) => {
    own.answer = (one, response) => answerWith(usageAt(one.path, 7, 9), { status })(one, response);
    const response = await askIt();
    expect(response.status).toBe(200);
    expect(response.text).toContain(answeredWords);
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({ outcome: 'completed', status: 200 });
    expect(row.tokens).toMatchObject({ input: 7, output: 9 });
    expect(attemptsOf(row)).toMatchObject([{ status, result: 'completed' }]);
  });

  test.each([204, 206])('a %d is not a response', async (status) => {
    own.answer = answerWith(undefined, { status });
    const response = await askIt();
    expect(response.status).toBe(502);
    const row = await rowOf(shared.gateway, response.id);
    expect(attemptsOf(row)).toMatchObject([{ status, class: 'started' }]);
    expect(own.asked).toHaveLength(1);
  });

  test('a byte order mark is skipped', async () => {
    own.answer = (one, response) => {
      const end = response.end.bind(response);
      response.end = ((text: string) => end(`\ufeff${text}`)) as typeof response.end;
      answerWith(usageAt(one.path, 7, 9))(one, response);
    };
    const response = await askIt();
    expect(response.status).toBe(200);
    expect(response.text).toContain(answeredWords);
    expect(response.text).not.toContain('"up"');
    expect((await rowOf(shared.gateway, response.id)).tokens).toMatchObject({
      input: 7,
      output: 9,
    });
  });
});

/** Errors with 400 that say something else than their status, and which of the first channel's keys rests then. */
const refusals = [
  [
    'a code of the account',
    { code: 'Arrearage', message: 'in arrears' },
    /credential 1 of 2 \(Arrearage\)/,
  ],
  ['a text that blames the account', { message: 'This organization has been disabled.' }, null],
  ['a quoted text', { message: "'insufficient balance' is no role" }, null],
] as const;

test.each(refusals)('a 400 with %s is no fault of the client', async (_, error, notice) => {
  notices.length = 0;
  let asked = 0;
  own.answer = (one, response) => {
    asked += 1;
    if (asked > 1) answerWith(usageAt(one.path, 7, 9))(one, response);
    else
      response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error }));
  };
  const response = await ask(shared.gateway, textProtocols[0]!, false, 'twice');
  expect(response.status).toBe(200);
  expect(attemptsOf(await rowOf(shared.gateway, response.id))).toMatchObject([
    {
      channel: 'twice-1',
      status: 400,
      result: notice === null ? 'abnormal' : 'credential-refused',
    },
    { channel: 'twice-2', result: 'completed' },
  ]);
  if (notice === null) expect(notices).toEqual([]);
  else expect(notices.join()).toMatch(notice);
});

test.each([false, true])(
  'a 400 of a full context is the client’s, streamed: %s',
  async (stream) => {
    const error = { type: 'exceed_context_size_error', message: 'too much' };
    own.answer = (_one, response) =>
      void response
        .writeHead(400, { 'content-type': 'application/json' })
        .end(JSON.stringify({ error }));
    const messages = textProtocols[2]!;
    const response = await ask(shared.gateway, messages, stream, 'at-chat');
    expect(response.status).toBe(400);
    expect(messages.errorMessage(JSON.parse(response.text))).toMatch(/^prompt is too long/);
  },
);
