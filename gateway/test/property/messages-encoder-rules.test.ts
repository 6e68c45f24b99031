import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateMessages } from '../../../simulator/src/messages/validate.ts';
import { GatewayError } from '#errors/index.ts';
import { messages } from '#protocols/messages/index.ts';
import { absence, recordings } from '../recordings/recordings.ts';
import { convert, readWire } from '../support/convert.ts';
import { signer } from '../support/messages-requests.ts';

const models = [
  'claude-3-5-haiku-20241022',
  'claude-sonnet-4-5',
  'claude-opus-4-6',
  'claude-opus-4-8',
  'claude-opus-5-5',
  'claude-sonnet-5-5',
  'demo-chat',
];

/** The rules that a converted request breaks; null when it could not be converted at all. */
async function broken(
  client: 'chat' | 'responses' | 'generate-content',
  json: unknown,
  model: string,
): Promise<readonly string[] | null> {
  let body: Buffer;
  try {
    const request = readWire(client, json);
    ({ body } = await convert({ client, request, target: { protocol: 'messages', model } }));
  } catch (error) {
    if (error instanceof GatewayError) return null;
    throw error;
  }
  const path = { operation: 'generate', model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(body, path));
  const patched = messages.patchRequest(request, { upstreamModel: model, maxOutputTokens: 9000 });
  const sent: unknown = JSON.parse(patched.body.toString('utf8'));
  validateMessages(sent, model, { 'anthropic-version': '2023-06-01' }, signer);
  return patched.rewrites;
}

const recorded = recordings.flatMap(({ id, protocol, request, status }) =>
  protocol === 'messages' || request === null || status >= 400 ? [] : [{ id, protocol, request }],
);

describe.skipIf(absence !== null)(`recorded requests for messages ${absence ?? ''}`, () => {
  it.each(models)('break no rule of %s', async (model) => {
    const faults: string[] = [];
    for (const { id, protocol, request } of recorded) {
      try {
        const rules = await broken(protocol, request, model);
        if (rules !== null && rules.length > 0) faults.push(`${id}: ${rules.join(',')}`);
      } catch (error) {
        faults.push(`${id}: ${String(error)}`);
      }
    }
    expect(faults).toEqual([]);
  });
});

const words = fc.constantFrom('hi', '', ' ', 'ends in space ', 'cut \ud83d', '数');
const ids = fc.constantFrom('a', 'b', 'x.y');
const call = fc.record({
  id: ids,
  type: fc.constant('function'),
  function: fc.record({
    name: fc.constantFrom('f', 'g'),
    arguments: fc.constantFrom('{}', '{"n":1}', '', '[1]', 'no', 'null'),
  }),
});
const message = fc.oneof(
  fc.record({ role: fc.constantFrom('user', 'assistant', 'system', 'developer'), content: words }),
  fc.record({
    role: fc.constant('assistant'),
    content: fc.option(words),
    tool_calls: fc.array(call, { minLength: 1, maxLength: 3 }),
  }),
  fc.record({ role: fc.constant('tool'), tool_call_id: ids, content: words }),
);
const chat = fc.record(
  {
    model: fc.constant('m'),
    messages: fc.array(message, { minLength: 1, maxLength: 7 }),
    reasoning_effort: fc.constantFrom('none', 'minimal', 'low', 'high', 'xhigh'),
    max_completion_tokens: fc.constantFrom(100, 2000, 99_999),
    temperature: fc.constantFrom(0, 1),
    top_p: fc.constantFrom(0.5, 1),
    stop: fc.constantFrom<unknown>('END', ['', ' ', 'x']),
    tools: fc.constant(
      ['f', 'g'].map((name) => ({ type: 'function', function: { name, parameters: {} } })),
    ),
    tool_choice: fc.constantFrom<unknown>('auto', 'none', 'required'),
  },
  { requiredKeys: ['model', 'messages'] },
);

it('chat conversations of every shape break no rule either', async () => {
  let converted = 0;
  await fc.assert(
    fc.asyncProperty(chat, fc.constantFrom(...models), async (json, model) => {
      const rules = await broken('chat', json, model);
      if (rules === null) return;
      converted += 1;
      expect(rules).toEqual([]);
    }),
    { numRuns: 1500 },
  );
  expect(converted).toBeGreaterThan(100);
});
