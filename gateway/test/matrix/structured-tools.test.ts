import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed } from './gateway.ts';
import { city, tools } from './sdk/ask.ts';

const upstreams = ['responses', 'messages', 'generate-content'] as const;
const shared = shareGateway({
  config: describeServed(
    upstreams.map((name) => ({
      name: `only-${name}`,
      protocols: [name],
      // Of those before, none holds to a schema beside tools.
      models: [[`at-${name}`, name === 'generate-content' ? 'gemini-3-chat' : 'demo-chat']],
    })),
  ),
});

describe.each(upstreams)('K07 at %s', (upstream) => {
  const ask = async (text: string, stream: boolean) => {
    const { completions } = new OpenAI({
      apiKey: testKey,
      baseURL: `${shared.gateway.url}/v1`,
      maxRetries: 0,
    }).chat;
    const params = {
      model: `at-${upstream}`,
      messages: [{ role: 'user' as const, content: text }],
      response_format: zodResponseFormat(city, 'city'),
      tools: tools.map(({ name, schema }) => ({
        type: 'function' as const,
        function: { name, parameters: { ...schema, additionalProperties: false }, strict: true },
      })),
    };
    const response = stream
      ? await completions.stream(params).finalChatCompletion()
      : await completions.parse(params);
    return response.choices[0]!;
  };

  test.each([false, true])(
    'a schema beside tools is answered as text, stream %s',
    async (stream) => {
      const { message, finish_reason: finish } = await ask('a city', stream);
      expect(message.parsed).toMatchObject({ name: 'demo name', twins: ['demo twins'] });
      expect([message.tool_calls ?? [], finish]).toEqual([[], 'stop']);
    },
  );

  test.each([false, true])('and its tools are called as tools, stream %s', async (stream) => {
    const { message, finish_reason: finish } = await ask('call tool get_weather', stream);
    expect(message.tool_calls).toMatchObject([{ function: { name: 'get_weather' } }]);
    expect([message.content ?? '', finish]).toEqual(['', 'tool_calls']);
  });
});

describe('a response format at Claude', () => {
  const pet = (kind: string) => ({
    type: 'object',
    properties: { kind: { const: kind } },
    required: ['kind'],
    additionalProperties: false,
  });
  const ask = (properties: Record<string, unknown>, strict: boolean) =>
    fetch(`${shared.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'at-messages',
        messages: [{ role: 'user', content: 'a pet' }],
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'pet',
            strict,
            schema: {
              type: 'object',
              properties,
              required: Object.keys(properties),
              additionalProperties: false,
            },
          },
        },
      }),
    });

  test('has its unions in the words of the upstream', async () => {
    const response = await ask({ pet: { oneOf: [pet('cat'), pet('dog')] } }, true);
    expect([response.status, response.headers.get('x-sluice-conversion')]).toEqual([200, null]);
  });

  test('that refers to itself is refused with its place if it is strict, else asked for in words', async () => {
    const recursive = { next: { anyOf: [{ $ref: '#' }, { type: 'null' }] } };
    const refused = await ask(recursive, true);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      {
        error: {
          param: 'response_format',
          message: expect.stringContaining("'properties.next.anyOf.0' refers to itself"),
        },
      },
    ]);
    const told = await ask(recursive, false);
    expect([told.status, told.headers.get('x-sluice-conversion')]).toEqual([
      200,
      'approx=response_format',
    ]);
  });
});
