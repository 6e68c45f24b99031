import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { convert, protocolPairs, readWire } from '../support/convert.ts';

/* A choice of a type that nobody knows is refused, and named, rather than taken for that of a function. */

const parameters = { type: 'object', properties: {} };
const asked: Readonly<Record<TextProtocolName, object>> = {
  chat: {
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
    tool_choice: { type: 'banana', name: 'f' },
  },
  responses: {
    input: 'x',
    tools: [{ type: 'function', name: 'f', parameters }],
    tool_choice: { type: 'banana', name: 'f' },
  },
  messages: {
    max_tokens: 10,
    messages: [{ role: 'user', content: 'x' }],
    tools: [{ name: 'f', input_schema: parameters }],
    tool_choice: { type: 'banana', name: 'f' },
  },
  'generate-content': {
    contents: [{ role: 'user', parts: [{ text: 'x' }] }],
    tools: [{ functionDeclarations: [{ name: 'f' }] }],
    toolConfig: { functionCallingConfig: { mode: 'BANANA' } },
  },
};

test.each(protocolPairs)('from $client to $upstream', async ({ client, upstream }) => {
  const request = readWire(client, { model: 'm', ...asked[client] });
  await expect(convert({ client, request, target: { protocol: upstream } })).rejects.toMatchObject({
    entry: { status: 400 },
    param: expect.stringMatching(/^(tool_choice|toolConfig)/),
    message: expect.stringMatching(/banana/i),
  });
});
