import { expect, test } from 'vitest';
import { askRaw, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { assertBilledExactly, ownChannel, shareBilledGateway } from './billed-gateway.ts';

/* B-20: who leaves when the whole response has come from the upstream owes the whole response. */

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const event = (type: string, more: object): string => `event: ${type}\n${data({ type, ...more })}`;
const response = { id: 'r', object: 'response', created_at: 1, model: 'm', output: [] };
const part = (text: string) => ({ index: 0, content: { role: 'model', parts: [{ text }] } });
/** Each protocol's terminator comes with the last of these. */
const responses: Record<string, string> = {
  chat:
    data({ id: 'c', choices: [{ index: 0, delta: { content: 'so' }, finish_reason: null }] }) +
    data({ id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) +
    data({ id: 'c', choices: [], usage: { prompt_tokens: 30, completion_tokens: 900 } }) +
    'data: [DONE]\n\n',
  responses:
    event('response.created', { response: { ...response, status: 'in_progress' } }) +
    event('response.output_text.delta', { delta: 'so' }) +
    event('response.completed', {
      response: {
        ...response,
        status: 'completed',
        usage: { input_tokens: 30, output_tokens: 900 },
      },
    }),
  messages:
    event('message_start', {
      message: { id: 'm', content: [], usage: { input_tokens: 30, output_tokens: 1 } },
    }) +
    event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'so' } }) +
    event('message_delta', {
      delta: { stop_reason: 'end_turn' },
      usage: { output_tokens: 900 },
    }) +
    event('message_stop', {}),
  'generate-content':
    data({ candidates: [part('so')] }) +
    data({
      candidates: [{ ...part('.'), finishReason: 'STOP' }],
      usageMetadata: { promptTokenCount: 30, candidatesTokenCount: 900 },
    }),
};

const shared = shareBilledGateway({
  balance: 1_000,
  channels: ownChannel({ name: 'own', model: 'm' }),
  models: ['m'],
});

const endings = textProtocols.flatMap((protocol) =>
  [true, false].map((ended) => ({
    protocol,
    ended,
    name: `${protocol.name}, ${ended ? 'its body at its end' : 'its body open'}`,
  })),
);

test.each(endings)(
  '$name: all of it, however the disconnect meets the settlement',
  async ({ protocol, ended }) => {
    const before = (await shared.gateway.usage()).length;
    const leavers = 10;
    shared.upstream.answer = (_asked, given) => {
      given.writeHead(200, { 'content-type': 'text/event-stream' });
      // In one piece: whoever has seen its content knows that the gateway has its end.
      given.write(responses[protocol.name]);
      if (ended) given.end();
    };
    await Promise.all(
      Array.from({ length: leavers }, async (_, index) => {
        const client = await askRaw(shared.gateway, protocol, true, 'm');
        await until(() => client.received().includes('"so"'), 'content has come');
        if (index % 2 === 0) client.socket.resetAndDestroy();
        else client.socket.destroy();
      }),
    );
    await until(
      async () => (await shared.gateway.usage()).length === before + leavers,
      'a row each',
    );
    for (const row of (await shared.gateway.usage()).slice(0, leavers)) {
      expect(row).toMatchObject({
        outcome: 'completed',
        estimated: false,
        tokens: { input: 30, output: 900 },
        cost: '1.83',
      });
    }
  },
);

test('the books are exact to the nano-USD', async () => {
  await assertBilledExactly(shared);
});
