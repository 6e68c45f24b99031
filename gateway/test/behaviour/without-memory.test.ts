import { expect, test } from 'vitest';
import { describeChannels, shareGateway } from './support.ts';

/* `limits.conversation_memory: 0`: what a later turn needs comes back from the client, or not at all. */

const shared = shareGateway({
  config: `${describeChannels([
    { name: 'gemini', protocols: ['generate-content'], models: ['demo-reasoning', 'demo-chat'] },
  ])}
limits: { conversation_memory: 0 }
`,
});

const parameters = { type: 'object', properties: { a: { type: 'string' } } };
const question = { role: 'user', content: 'call tools' };

interface Call {
  readonly id: string;
  readonly function: object;
  readonly extra_content?: object;
}

async function ask(messages: readonly object[]): Promise<readonly Call[]> {
  const response = await shared.gateway.post('/v1/chat/completions', {
    model: 'demo-reasoning',
    messages,
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
  });
  if (response.status !== 200) throw new Error(await response.text());
  const { choices } = (await response.json()) as {
    choices: { message: { tool_calls?: Call[] } }[];
  };
  return choices[0]?.message.tool_calls ?? [];
}

/** What the upstream gets of the thought in the next turn. */
async function signatureAfter(call: object, id: string): Promise<string | undefined> {
  await ask([
    question,
    { role: 'assistant', content: null, tool_calls: [{ type: 'function', ...call }] },
    { role: 'tool', tool_call_id: id, content: 'fine' },
  ]);
  const asked = JSON.stringify(shared.gateway.simulator.requests().at(-1)?.body);
  return /"thoughtSignature":\s*"(c2ltdWxhdG9y[^"]*)"/.exec(asked.replaceAll('\\"', '"'))?.[1];
}

test('a chat client that returns whole calls returns the thought of a call with it', async () => {
  const [call] = await ask([question]);
  if (call === undefined) throw new Error('nothing was called');
  expect(call.extra_content).toEqual({ google: { thought_signature: expect.any(String) } });
  // Some clients invent their own ids, so the id cannot carry it.
  const { extra_content: _extra, ...bare } = { ...call, id: 'call_1' };
  expect(await signatureAfter({ ...call, id: 'call_1' }, 'call_1')).toMatch(/^c2ltdWxhdG9y/);
  // The upstream insists on it, as Gemini 3 does.
  await expect(signatureAfter(bare, 'call_1')).rejects.toThrow('invalid_request_error');
});

test('an item that is named by its id is unknown, and the error names the way out', async () => {
  const said = await shared.gateway.post('/v1/responses', { model: 'demo-chat', input: 'Hello' });
  const { output } = (await said.json()) as { output: { id: string }[] };
  const response = await shared.gateway.post('/v1/responses', {
    model: 'demo-chat',
    input: [...output.map(({ id }) => ({ type: 'item_reference', id })), question],
  });
  expect(response.status).toBe(400);
  expect(await response.text()).toMatch(/store.*false/);
});
