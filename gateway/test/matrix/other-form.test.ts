import { afterAll, describe, expect, test } from 'vitest';
import { attemptsOf, rowOf, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { answeredWords, answerWith, startOwnUpstream, usageAt } from '../support/own-upstream.ts';
import { onePerProtocolAt, protocolNames } from './gateway.ts';
import { finishes, sdks } from './sdk/index.ts';

/** Upstreams that send JSON where a stream was asked, and a stream where JSON was asked. */
const own = await startOwnUpstream();
afterAll(() => own.close());
const shared = shareGateway({
  config: onePerProtocolAt(own.url),
});

const ways = textProtocols.flatMap((client) =>
  protocolNames.flatMap((upstream) =>
    [true, false].map((stream) => ({
      client,
      upstream,
      stream,
      name: `${client.name} of ${upstream}, ${stream ? 'JSON where a stream was asked' : 'a stream where JSON was asked'}`,
    })),
  ),
);

/** With the type of what it is, of what was asked, and of nothing at all. */
const types = [undefined, 'text/event-stream', 'application/json', 'text/plain'];

describe.each(ways)('$name', ({ client, upstream, stream }) => {
  test.each(types)('is answered as requested, and charged as reported (%s)', async (type) => {
    own.answer = (asked, response) =>
      answerWith(usageAt(asked.path, 30, 9), {
        swapped: true,
        ...(type !== undefined && { type }),
      })(asked, response);
    const model = `at-${upstream}`;
    const response = await sdks[client.name].ask(shared.gateway.url, { model, text: 'hi', stream });
    expect(response).toMatchObject({
      text: answeredWords,
      finish: finishes[client.name].end,
      inputTokens: 30,
      outputTokens: 9,
    });
    const row = (await shared.gateway.usage())[0]!;
    expect(row).toMatchObject({
      model,
      outcome: 'completed',
      status: 200,
      estimated: false,
      tokens: { input: 30, output: 9 },
      cost: '0.000048',
    });
  });

  test('a failure in the other form is a failure', async () => {
    own.answer = (_asked, response) => {
      const error = JSON.stringify({ error: { message: 'no', type: 'server_error', code: 500 } });
      const body = stream ? error : `event: error\ndata: ${error}\n\n`;
      response.writeHead(200, {
        'content-type': stream ? 'application/json' : 'text/event-stream',
      });
      response.end(body);
    };
    const model = `at-${upstream}`;
    const response = await shared.gateway.post(
      client.path(model, stream),
      client.body(model, stream),
    );
    expect(response.status).toBe(502);
    const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(row)[0]).toMatchObject({ class: 'started', result: 'abnormal' });
  });
});
