import { expect, test } from 'vitest';
import { verdict } from '#protocols/index.ts';
import { convert, converterOf, readWire } from '../support/convert.ts';

/*
 * Clients of chat that return a call as a whole return its signature with it, so that nobody has to remember it: after a
 * restart, and in another process.
 */

type Json = Record<string, unknown>;

const upstream = {
  protocol: 'generate-content',
  provider: 'gemini',
  model: 'gemini-3.1-pro-preview',
} as const;
const echo = { clientModel: 'm', upstreamModel: upstream.model };
const signature = Buffer.from('a signature').toString('base64');
const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }];
const question = { role: 'user', content: 'Look.' };
const answer = {
  candidates: [
    {
      index: 0,
      content: {
        role: 'model',
        parts: [
          { functionCall: { name: 'f', args: { a: 1 } }, thoughtSignature: signature },
          { functionCall: { name: 'f', args: { a: 2 } } },
        ],
      },
      finishReason: 'STOP',
    },
  ],
};

/** The calls of the answer as clients keep them. */
async function callsOf(isStreamed: boolean): Promise<readonly Json[]> {
  const { reader } = await convert({
    client: 'chat',
    request: readWire('chat', { model: 'm', messages: [question], tools, stream: isStreamed }),
    target: upstream,
  });
  const data = Buffer.from(JSON.stringify(answer));
  if (!isStreamed) {
    const { choices } = JSON.parse(String(reader.readResponse(data, echo).body)) as {
      choices: [{ message: { tool_calls: Json[] } }];
    };
    return choices[0].message.tool_calls;
  }
  const tap = reader.createStreamTap({ ...echo, usageInjected: false });
  const flags = tap.inspect({ raw: Buffer.from(`data: ${String(data)}\n\n`), name: null, data });
  const frames = (flags & verdict.replace) === 0 ? '' : String(tap.replacement);
  const calls: (Json & { function: { arguments: string } })[] = [];
  for (const [, event] of (frames + tap.completion()).matchAll(/^data: (\{.*\})$/gm)) {
    const { choices } = JSON.parse(event ?? '') as {
      choices: { delta?: { tool_calls?: (Json & { index: number })[] } }[];
    };
    for (const { index, ...entry } of choices[0]?.delta?.tool_calls ?? []) {
      const called = entry['function'] as { arguments: string };
      const known = calls[index];
      if (known === undefined) calls[index] = { ...entry, function: { ...called } };
      else known.function.arguments += called.arguments;
    }
  }
  return calls;
}

test.each([false, true])('a call carries its signature (streamed: %s)', async (isStreamed) => {
  const calls = await callsOf(isStreamed);
  expect(calls).toHaveLength(2);
  expect(JSON.stringify(calls)).not.toContain(signature);
  const results = calls.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'fine' }));
  const messages = [question, { role: 'assistant', content: null, tool_calls: calls }, ...results];
  const { body } = await convert({
    client: 'chat',
    request: readWire('chat', { model: 'm', messages, tools }),
    target: upstream,
    // It remembers nothing.
    converter: converterOf(),
  });
  const { contents } = JSON.parse(String(body)) as { contents: { parts: Json[] }[] };
  expect(contents[1]?.parts).toMatchObject([
    { functionCall: { args: { a: 1 } }, thoughtSignature: signature },
    { functionCall: { args: { a: 2 } } },
  ]);

  // To an upstream that would not understand it, it does not go.
  const other = await convert({
    client: 'chat',
    request: readWire('chat', { model: 'm', messages, tools }),
    target: { protocol: 'messages' },
  });
  expect(String(other.body)).not.toContain('signature');
});
