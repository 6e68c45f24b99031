import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textProtocols, UnreadableResponse } from '#protocols/index.ts';
import { convert, protocolPairs, readWireText, textProtocolNames } from '../support/convert.ts';
import { cpuMilliseconds, expectLinear as assertLinear } from '../support/growth.ts';

/*
 * One budget per request: reading a body, repairing it and writing it for an upstream takes time and memory in
 * proportion to its bytes, or it is refused as too complex.
 */

/** Of this thread; the goal is a fifth of it, the rest is margin for a shared machine. Milliseconds. */
const mostCpu = 250;

const quoted = (text: string) => JSON.stringify(text);

/** A body with one call, made with these arguments, and a tool whose arguments have this schema. */
const bodies: Readonly<Record<TextProtocolName, (args: string, schemas: string[]) => string>> = {
  chat: (args, schemas) =>
    `{"model":"m","messages":[{"role":"user","content":"a"},{"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f0","arguments":${quoted(args)}}}]},{"role":"tool","tool_call_id":"c","content":"r"}],"tools":[${schemas.map((schema, index) => `{"type":"function","function":{"name":"f${index}","parameters":${schema}}}`).join()}]}`,
  responses: (args, schemas) =>
    `{"model":"m","input":[{"role":"user","content":"a"},{"type":"function_call","call_id":"c","name":"f0","arguments":${quoted(args)}},{"type":"function_call_output","call_id":"c","output":"r"}],"tools":[${schemas.map((schema, index) => `{"type":"function","name":"f${index}","parameters":${schema}}`).join()}]}`,
  messages: (args, schemas) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f0","input":${quoted(args)}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}],"tools":[${schemas.map((schema, index) => `{"name":"f${index}","input_schema":${schema}}`).join()}]}`,
  'generate-content': (args, schemas) =>
    `{"contents":[{"role":"user","parts":[{"text":"a"}]},{"role":"model","parts":[{"functionCall":{"name":"f0","args":{"x":${quoted(args)}}}}]},{"role":"user","parts":[{"functionResponse":{"name":"f0","response":{}}}]}],"tools":[{"functionDeclarations":[${schemas.map((schema, index) => `{"name":"f${index}","parametersJsonSchema":${schema}}`).join()}]}]}`,
};

const plain = ['{"type":"object","properties":{"x":{"type":"string"}}}'];

/** The name of the error for a request; null if it can be converted. */
async function errorOf(act: () => unknown): Promise<string | null> {
  try {
    await act();
    return null;
  } catch (error) {
    if (error instanceof GatewayError) return error.errorName;
    throw error;
  }
}

async function convertText(
  client: TextProtocolName,
  upstream: TextProtocolName,
  text: string,
): Promise<{ readonly error: string | null; readonly cpu: number }> {
  const before = process.threadCpuUsage();
  const error = await errorOf(() =>
    convert({ client, request: readWireText(client, text), target: { protocol: upstream } }),
  );
  const { user, system } = process.threadCpuUsage(before);
  return { error, cpu: (user + system) / 1000 };
}

const nested = (depth: number, core = '1') => `{"a":`.repeat(depth) + core + '}'.repeat(depth);

describe('JSON within a text', () => {
  const withTextCalls = protocolPairs.filter(
    ({ client }) => client === 'chat' || client === 'responses',
  );

  test.each(withTextCalls)(
    'is read as deep as a body, by $upstream for $client',
    async ({ client, upstream }) => {
      expect((await convertText(client, upstream, bodies[client](nested(400), plain))).error).toBe(
        null,
      );
      const { error, cpu } = await convertText(
        client,
        upstream,
        bodies[client](nested(200_000), plain),
      );
      expect(error).toBe('too_complex');
      expect(cpu).toBeLessThan(mostCpu);
    },
  );

  test.each(withTextCalls)(
    'shares the budget of its request, by $upstream for $client',
    async ({ client, upstream }) => {
      const many = bodies[client](`{"a":[${'[],'.repeat(600_000)}1]}`, plain);
      expect((await convertText(client, upstream, many)).error).toBe('too_complex');
    },
  );

  test.each([
    ['deep', nested(200_000)],
    ['deep, with half a character', nested(200_000, String.raw`"\ud800"`)],
    ['of many values', `{"a":[${'[],'.repeat(600_000)}1]}`],
  ])('is refused as a Messages input if it is %s', async (_what, input) => {
    const request = readWireText('messages', bodies.messages(input, plain));
    const { patchRequest } = textProtocols.messages;
    const target = { upstreamModel: 'claude-opus-4-6', maxOutputTokens: null };
    expect(await errorOf(() => patchRequest(request, target))).toBe('too_complex');
  });
});

describe('a body', () => {
  test.each(textProtocolNames)('that is nested too deep is too complex for %s', async (name) => {
    const deep = `{"model":"m","messages":[],"x":${nested(600)}}`;
    expect(await errorOf(() => readWireText(name, deep))).toBe('too_complex');
    expect(await errorOf(() => readWireText(name, `{"x":${'['.repeat(600)}`))).toBe('too_complex');
    expect(await errorOf(() => readWireText(name, '{"x":[}'))).toBe('invalid_body');
  });
});

describe('references of schemas', () => {
  const doubling = (levels: number, leaf: string) => {
    const definitions = Array.from(
      { length: levels },
      (_, level) =>
        `"d${level}":{"type":"object","properties":{"x":{"$ref":"#/$defs/d${level + 1}"},"y":{"$ref":"#/$defs/d${level + 1}"}}}`,
    );
    return `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{${definitions.join()},"d${levels}":${leaf}}}`;
  };
  const clients = textProtocolNames.filter((name) => name !== 'generate-content');

  test.each(clients)('of many tools are written out within one budget, for %s', async (client) => {
    const schemas = Array.from({ length: 200 }, () => doubling(13, '{"type":"string"}'));
    const text = bodies[client]('{}', schemas);
    const { error, cpu } = await convertText(client, 'generate-content', text);
    expect(error).toBe('too_complex');
    expect(cpu).toBeLessThan(4 * mostCpu);
  });

  test.each([
    ['a long description', `{"type":"string","description":"${'d'.repeat(200_000)}"}`],
    ['a long default', `{"type":"string","default":[${'"default",'.repeat(20_000)}1]}`],
    ['a long list', `{"type":"string","enum":[${'"value",'.repeat(20_000)}"x"]}`],
    ['what has to be said in words', `{"type":"string","not":[${'"value",'.repeat(20_000)}"x"]}`],
    [
      'many members',
      `{"type":"object","properties":{${Array.from({ length: 20_000 }, (_, at) => `"p${at}":{}`).join()}}}`,
    ],
    [
      'a long list of what is required',
      `{"type":"object","properties":{"a":{}},"required":[${'"value",'.repeat(50_000)}"x"]}`,
    ],
  ])('do not multiply %s', async (_what, leaf) => {
    const { error, cpu } = await convertText(
      'chat',
      'generate-content',
      bodies.chat('{}', [doubling(11, leaf)]),
    );
    // A schema that is too large by itself is cut.
    expect([null, 'too_complex']).toContain(error);
    expect(cpu).toBeLessThan(2 * mostCpu);
  });

  test('may be followed as deep as anything may', async () => {
    const chain = (length: number) => {
      const definitions = Array.from(
        { length },
        (_, level) =>
          `"d${level}":{"type":"object","properties":{"x":{"$ref":"#/$defs/d${level + 1}"}}}`,
      );
      return `{"type":"object","properties":{"x":{"$ref":"#/$defs/d0"}},"$defs":{${definitions.join()},"d${length}":{"type":"string"}}}`;
    };
    const short = bodies.chat('{}', [chain(100)]);
    expect((await convertText('chat', 'generate-content', short)).error).toBe(null);
    const long = bodies.chat('{}', [chain(20_000)]);
    const { error, cpu } = await convertText('chat', 'generate-content', long);
    expect(error).toBe('too_complex');
    expect(cpu).toBeLessThan(mostCpu);
  });
});

describe('a change to a Messages body', () => {
  const patch = (text: string) => {
    const request = readWireText('messages', text);
    return () =>
      textProtocols.messages.patchRequest(request, {
        upstreamModel: 'claude-opus-4-6',
        maxOutputTokens: null,
      }).body;
  };

  test('is found in one pass, however deep it is', () => {
    // Half a character in the innermost value: every level around it is a changed copy.
    const deep = (levels: number) =>
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"x":${nested(levels, `[${'1,'.repeat(150_000)}"\\ud800"]`)}}`;
    const shallow = Math.min(...[1, 2, 3].map(() => cpuMilliseconds(patch(deep(4)))));
    const far = Math.min(...[1, 2, 3].map(() => cpuMilliseconds(patch(deep(500)))));
    expect(far).toBeLessThan(4 * shallow + 20);
  });

  test('is assembled once, however deep it is', () => {
    const input = (levels: number) =>
      quoted(nested(levels, `{"s":"\\ud800","long":"${'x'.repeat(1_000_000)}"}`));
    const body = (levels: number) =>
      `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${input(levels)}}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"r"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`;
    const shallow = Math.min(...[1, 2, 3].map(() => cpuMilliseconds(patch(body(4)))));
    const far = Math.min(...[1, 2, 3].map(() => cpuMilliseconds(patch(body(500)))));
    expect(far).toBeLessThan(4 * shallow + 20);
  });

  test('accepts more elements than a call has arguments', () => {
    const stops = Array.from({ length: 200_000 }, () => `"\\ud800"`).join();
    const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"stop_sequences":[${stops}]}`;
    expect(JSON.parse(patch(body)().toString())).toMatchObject({ model: 'claude-opus-4-6' });
  });

  test('does not repeat the space between two elements for each new one', () => {
    const calls = Array.from(
      { length: 500 },
      (_, at) => `{"type":"tool_use","id":"c${at}","name":"f","input":{}}`,
    );
    const body = `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"},{"role":"assistant","content":[${calls.join()}]},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c0","content":"r"}${' '.repeat(200_000)},{"type":"text","text":"t"}]}],"tools":[{"name":"f","input_schema":{"type":"object"}}]}`;
    expect(patch(body)().length).toBeLessThan(2 * body.length);
  });
});

describe('texts of a client', () => {
  const media = (data: string) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":${quoted(data)}}}]}]}`;

  test.each([
    ['a data URL', (size: number) => media(`data:${';base64'.repeat(size / 7)}`)],
    ['an address in metadata', (size: number) => user('a@'.repeat(size / 2))],
    ['points in metadata', (size: number) => user(`@${'.a'.repeat(size / 2)} `)],
  ])('are read in one pass: %s', (_what, textOf) => {
    assertLinear(
      (size) => {
        const request = readWireText('messages', textOf(size));
        const target = { upstreamModel: 'claude-opus-4-6', maxOutputTokens: null };
        return () => {
          textProtocols.messages.patchRequest(request, target);
          void convert({ client: 'messages', request, target: { protocol: 'chat' } }).catch(
            () => {},
          );
        };
      },
      { largest: 262_144 },
    );
  });

  const user = (id: string) =>
    `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"a"}],"metadata":{"user_id":${quoted(id)}}}`;
});

describe('an upstream’s response', () => {
  test.each(textProtocolNames)('that is nested too deep is unreadable: %s', (name) => {
    const echo = { clientModel: 'm', upstreamModel: 'm' };
    const body = Buffer.from(`{"choices":[],"x":${nested(100_000)}}`);
    expect(() => textProtocols[name].readResponse(body, echo)).toThrow(UnreadableResponse);
  });
});
