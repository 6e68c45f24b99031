import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { convert, converterOf, readWire } from '../support/convert.ts';

/** OpenAI refuses a reasoning item with `content` ("array too long … maximum length 0"): its text is a summary. */

const upstream = { protocol: 'responses', provider: 'openai', model: 'gpt-5.2' } as const;

const thought = {
  type: 'reasoning',
  id: 'rs_1',
  summary: [{ type: 'summary_text', text: 'They greet me.' }],
  encrypted_content: 'sealed',
};
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'f', arguments: '{}' };
const answered = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [thought, call],
};

type Json = Record<string, unknown>;

interface Client {
  readonly ask: (history: readonly Json[]) => Json;
  /** What the client adds to its history: the response with that call, and the call's result. */
  readonly go: (response: Json) => Json[];
}

const schema = { type: 'object', properties: {} };
const clients: Readonly<Partial<Record<TextProtocolName, Client>>> = {
  chat: {
    ask: (messages) => ({
      model: 'm',
      messages: [{ role: 'user', content: 'hello' }, ...messages],
      tools: [{ type: 'function', function: { name: 'f', parameters: schema } }],
      reasoning_effort: 'high',
    }),
    go: ({ choices }) => [
      (choices as Json[])[0]?.['message'] as Json,
      { role: 'tool', tool_call_id: 'call_1', content: 'done' },
    ],
  },
  messages: {
    ask: (messages) => ({
      model: 'm',
      max_tokens: 2000,
      messages: [{ role: 'user', content: 'hello' }, ...messages],
      tools: [{ name: 'f', input_schema: schema }],
      thinking: { type: 'adaptive' },
    }),
    go: ({ content }) => [
      { role: 'assistant', content },
      {
        role: 'user',
        content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'done' }],
      },
    ],
  },
  'generate-content': {
    ask: (contents) => ({
      contents: [{ role: 'user', parts: [{ text: 'hello' }] }, ...contents],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      generationConfig: { thinkingConfig: { includeThoughts: true } },
    }),
    go: ({ candidates }) => [
      (candidates as Json[])[0]?.['content'] as Json,
      {
        role: 'user',
        parts: [{ functionResponse: { id: 'call_1', name: 'f', response: { output: 'done' } } }],
      },
    ],
  },
};

test.each(Object.entries(clients) as [TextProtocolName, Client][])(
  'from %s clients as the summary they were',
  async (client, { ask, go }) => {
    const converter = converterOf();
    const sent = async (json: Json) => {
      const request = readWire(client, json);
      return convert({ client, request, target: upstream, converter });
    };
    const { reader } = await sent(ask([]));
    const echo = { clientModel: 'm', upstreamModel: 'gpt-5.2' };
    const { body } = reader.readResponse(Buffer.from(JSON.stringify(answered)), echo);
    const next = await sent(ask(go(JSON.parse(String(body)) as Json)));
    const { input } = JSON.parse(String(next.body)) as { input: Json[] };
    expect(input.filter(({ type }) => type === 'reasoning')).toEqual([thought]);
  },
);
