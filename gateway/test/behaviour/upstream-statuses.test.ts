import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { answeredWords, answerWith, startOwnUpstream, usageAt } from '../support/own-upstream.ts';
import { onePerProtocolAt } from '../matrix/gateway.ts';
import { ask, attemptsOf, rowOf, shareGateway } from './support.ts';
import { textProtocols } from './text-protocols.ts';

/** Answers that are whole although they do not look quite like one, and the other way round. */
const own = await startOwnUpstream();
afterAll(() => own.close());
const shared = shareGateway({
  config: onePerProtocolAt(own.url),
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
