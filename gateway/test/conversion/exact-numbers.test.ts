import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { readEvents, sameNames } from '../recordings/tap-run.ts';
import { convert, readWireText } from '../support/convert.ts';
import { readerOf } from '../support/converted-reader.ts';

const long = '12345678901234567890';
const args = `{"id":${long},"small":1,"float":0.1}`;
const written = JSON.stringify(args);

const asked: Readonly<Record<TextProtocolName, string>> = {
  chat: `{"model":"m","messages":[{"role":"user","content":"x"},
    {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${written}}}]},
    {"role":"tool","tool_call_id":"c","content":"ok"}]}`,
  responses: `{"model":"m","input":[{"role":"user","content":"x"},
    {"type":"function_call","call_id":"c","name":"f","arguments":${written}},
    {"type":"function_call_output","call_id":"c","output":"ok"}]}`,
  messages: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]}`,
  'generate-content': `{"contents":[{"role":"user","parts":[{"text":"x"}]},
    {"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"id":${long}}}}]}]}`,
};

const responses: Readonly<Record<'messages' | 'generate-content', string>> = {
  messages: `{"type":"message","role":"assistant","stop_reason":"tool_use",
    "content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]}`,
  'generate-content': `{"candidates":[{"finishReason":"STOP",
    "content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]}}]}`,
};

const clients = Object.keys(asked) as TextProtocolName[];

describe('integers beyond 2^53 in the arguments of calls', () => {
  it.each(clients.flatMap((client) => clients.map((upstream) => [client, upstream] as const)))(
    'from %s to %s keep their digits',
    async (client, upstream) => {
      if (client === upstream) return;
      const request = readWireText(client, asked[client]);
      const { body } = await convert({ client, request, target: { protocol: upstream } });
      expect(String(body)).toContain(long);
      expect(String(body)).toMatch(/small\\?":1/);
      expect(String(body)).not.toContain('12345678901234567000');
    },
  );

  it.each(
    clients.flatMap((client) =>
      (['messages', 'generate-content'] as const).map((upstream) => [upstream, client] as const),
    ),
  )('answered by %s to %s keep their digits', (upstream, client) => {
    if (client === upstream) return;
    const { body } = readerOf(upstream, client).readResponse(
      Buffer.from(responses[upstream]),
      sameNames,
    );
    expect(String(body)).toContain(long);
  });

  it('streamed by generate-content keep their digits', () => {
    const line = responses['generate-content'].replaceAll('\n', '');
    for (const client of ['chat', 'responses', 'messages'] as const) {
      const tap = readerOf('generate-content', client).createStreamTap(sameNames);
      let sent = '';
      for (const event of readEvents([Buffer.from(`data: ${line}\n\n`)])) {
        tap.inspect(event);
        sent += String(tap.replacement);
      }
      expect(sent + tap.completion()).toContain(long);
    }
  });

  it('a request’s own numbers stay numbers', async () => {
    const text = asked.messages.replace('"max_tokens":9', '"max_tokens":9,"top_k":5');
    const request = readWireText('messages', text);
    const target = { protocol: 'generate-content' } as const;
    const { body } = await convert({ client: 'messages', request, target });
    expect(String(body)).toContain('"topK":5');
  });
});

/** Numbers that `JSON.stringify` writes in another way than they came. */
const odd = fc.oneof(
  fc.constantFrom('1.0', '-0', '1e400', '-1E-400', '9007199254740993', '0.10000000000000000555'),
  fc.bigInt({ min: 10n ** 17n, max: 10n ** 30n }).map((number) => `-${number}1`),
  fc.tuple(fc.nat(), fc.nat()).map(([whole, part]) => `${whole}.${part}0`),
);

const numbered = (kind: string, [least, preset]: readonly string[]) =>
  `{"type":"object","properties":{"n":{"type":"${kind}","minimum":${least},"default":${preset}}},"required":["n"]}`;

type Written = readonly string[];

/** A request with odd numbers in the schema of a tool and of the response, and in the arguments of a call. */
const withSchemas: Readonly<Record<TextProtocolName, (tool: string, response: string) => string>> =
  {
    chat: (tool, response) =>
      `,"tools":[{"type":"function","function":{"name":"f","parameters":${tool}}}],
      "response_format":{"type":"json_schema","json_schema":{"name":"a","schema":${response}}}}`,
    responses: (tool, response) =>
      `,"tools":[{"type":"function","name":"f","parameters":${tool}}],
      "text":{"format":{"type":"json_schema","name":"a","schema":${response}}}}`,
    messages: (tool, response) =>
      `,"tools":[{"name":"f","input_schema":${tool}}],
      "output_config":{"format":{"type":"json_schema","schema":${response}}}}`,
    'generate-content': (tool, response) =>
      `,"tools":[{"functionDeclarations":[{"name":"f","parametersJsonSchema":${tool}}]}],
      "generationConfig":{"temperature":1.0,"responseMimeType":"application/json","responseJsonSchema":${response}}}`,
  };

function hasNumber(body: string, number: string): boolean {
  const text = number.replaceAll(/[.+]/g, String.raw`\$&`);
  return new RegExp(`[^\\d.eE+-]${text}(?![\\d.eE])`).test(body);
}

describe('passed-on numbers are as the client wrote them', () => {
  const pairs = clients.flatMap((client) =>
    clients.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
  );

  it.each(pairs)('in schemas, of $client for $upstream', async ({ client, upstream }) => {
    const example = async ([kind, tool, response]: readonly [string, Written, Written]) => {
      const more = withSchemas[client](numbered(kind, tool), numbered(kind, response));
      const request = readWireText(client, asked[client].replace(/}$/, more));
      const { body } = await convert({ client, request, target: { protocol: upstream } });
      expect(JSON.parse(String(body))).toBeTypeOf('object');
      for (const number of [...tool, ...response])
        expect(String(body)).toSatisfy((text: string) => hasNumber(text, number), number);
    };
    const two = fc.tuple(odd, odd);
    const kinds = fc.constantFrom('number', 'integer');
    await fc.assert(fc.asyncProperty(fc.tuple(kinds, two, two), example), { numRuns: 30 });
  });

  it.each(pairs)('in arguments, of $client for $upstream', async ({ client, upstream }) => {
    const example = async (number: string) => {
      const plain = asked[client];
      const request = readWireText(
        client,
        plain
          .replaceAll('"small":1', `"small":${number}`)
          .replaceAll('small\\":1', `small\\":${number}`),
      );
      const { body } = await convert({ client, request, target: { protocol: upstream } });
      expect(String(body)).toMatch(/small\\*":/);
      expect(hasNumber(String(body), number)).toBe(true);
    };
    await fc.assert(fc.asyncProperty(odd, example), { numRuns: 30 });
  });

  it.each(
    (['messages', 'generate-content'] as const).flatMap((upstream) =>
      clients.filter((client) => client !== upstream).map((client) => ({ upstream, client })),
    ),
  )('in arguments, answered by $upstream to $client', ({ upstream, client }) => {
    const example = (number: string) => {
      const response = responses[upstream].replace('"small":1', `"small":${number}`);
      const { body } = readerOf(upstream, client).readResponse(Buffer.from(response), sameNames);
      expect(hasNumber(String(body), number)).toBe(true);
    };
    fc.assert(fc.property(odd, example), { numRuns: 30 });
  });

  it.each(pairs)('in any schema, $client for $upstream', async ({ client, upstream }) => {
    const keyword = fc.constantFrom(
      'minimum',
      'minLength',
      'minItems',
      'enum',
      'const',
      'items',
      'anyOf',
      'properties',
      'multipleOf',
      'exclusiveMinimum',
      'type',
      'default',
      'required',
      'description',
    );
    const schema = fc
      .dictionary(
        keyword,
        fc.oneof(
          odd,
          odd.map((number) => `[${number}]`),
          odd.map((number) => `{"n":${number}}`),
        ),
      )
      .map((members) =>
        Object.entries(members)
          .map(([name, value]) => `,"${name}":${value}`)
          .join(''),
      );
    const example = async (more: string) => {
      const text = withSchemas[client](`{"type":"object"${more}}`, `{"type":"object"${more}}`);
      const request = readWireText(client, asked[client].replace(/}$/, text));
      try {
        await convert({ client, request, target: { protocol: upstream } });
      } catch (error) {
        expect(error).toBeInstanceOf(GatewayError);
      }
    };
    await fc.assert(fc.asyncProperty(schema, example), { numRuns: 50 });
  });
});
