import { beforeAll, describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import type { TextProtocol } from '../behaviour/text-protocols.ts';
import { nanoOf } from '../money/books.ts';
import { testKey } from '../support/gateway.ts';
import { onePerProtocol, pairs, type ProtocolName } from './gateway.ts';

/**
 * Requests that no upstream could be asked: the same 400 whichever protocol the upstream speaks, with the place that is
 * wrong, before anything is sent or charged.
 */
const shared = shareGateway({ config: onePerProtocol });

const messages = (...list: object[]) => ({ messages: list });
const input = (...items: object[]) => ({ input: items });
const contents = (...list: object[]) => ({ contents: list });
/** A user who says one thing that is wrong. */
const said = {
  chat: (part: object) => messages({ role: 'user', content: [part] }),
  responses: (part: object) => input({ role: 'user', content: [part] }),
  messages: (block: object) => messages({ role: 'user', content: [block] }),
  'generate-content': (part: object) => contents({ role: 'user', parts: [part] }),
};

const hello = { role: 'user', content: 'hello' };
const chatCall = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } };
const call = { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' };
/** A call, and a result of it. */
const answered = {
  chat: (content: unknown, more = {}) =>
    messages(
      hello,
      { role: 'assistant', tool_calls: [{ ...chatCall, ...more }] },
      { role: 'tool', tool_call_id: 'c', content },
    ),
  responses: (output: unknown, more = {}) =>
    input(hello, { ...call, ...more }, { type: 'function_call_output', call_id: 'c', output }),
  messages: (content: unknown, more = {}) =>
    messages(
      hello,
      {
        role: 'assistant',
        content: [{ type: 'tool_use', id: 'c', name: 'f', input: {}, ...more }],
      },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content }] },
    ),
  'generate-content': (response: unknown, more = {}) =>
    contents(
      { role: 'user', parts: [{ text: 'hello' }] },
      { role: 'model', parts: [{ functionCall: { name: 'f', args: {}, ...more } }] },
      { role: 'user', parts: [{ functionResponse: { name: 'f', response } }] },
    ),
};

const tool = {
  chat: (parameters: unknown) => ({
    tools: [{ type: 'function', function: { name: 'f', parameters } }],
  }),
  responses: (parameters: unknown) => ({ tools: [{ type: 'function', name: 'f', parameters }] }),
  messages: (schema: unknown) => ({ tools: [{ name: 'f', input_schema: schema }] }),
  'generate-content': (parametersJsonSchema: unknown) => ({
    tools: [{ functionDeclarations: [{ name: 'f', parametersJsonSchema }] }],
  }),
};
const form = {
  chat: (schema: unknown) => ({
    response_format: { type: 'json_schema', json_schema: { name: 'a', schema } },
  }),
  responses: (schema: unknown) => ({
    text: { format: { type: 'json_schema', name: 'a', schema } },
  }),
  messages: (schema: unknown) => ({ output_config: { format: { type: 'json_schema', schema } } }),
  'generate-content': (responseJsonSchema: unknown) => ({
    generationConfig: { responseMimeType: 'application/json', responseJsonSchema },
  }),
};

const image = (url: unknown) => ({ type: 'image_url', image_url: { url } });
const source = (type: string, value: object) => ({ type, source: value });
const bytes = (mime: string) => ({ type: 'base64', media_type: mime, data: '!!!?' });
const inline = (mimeType: string) => ({ inlineData: { mimeType, data: '!!!?' } });

/** Members of a request, and the place that the error names; null where there is no such request. */
type Wrong = Readonly<Record<ProtocolName, readonly [body: object, place: string] | null>>;

const wrongs: Readonly<Record<string, Wrong>> = {
  'a role that nobody has': {
    chat: [messages({ role: 'nobody', content: 'x' }), 'messages.0.role'],
    responses: [input({ role: 'nobody', content: 'x' }), 'input.0.role'],
    messages: [messages({ role: 'nobody', content: 'x' }), 'messages.0.role'],
    'generate-content': [contents({ role: 'nobody', parts: [{ text: 'x' }] }), 'contents.0.role'],
  },
  'a picture that is not base64': {
    chat: [said.chat(image('data:image/png;base64,!!!?')), 'messages.0.content.0.image_url.url'],
    responses: [
      said.responses({ type: 'input_image', image_url: 'data:image/png;base64,!!!?' }),
      'input.0.content.0.image_url',
    ],
    messages: [
      said.messages(source('image', bytes('image/png'))),
      'messages.0.content.0.source.data',
    ],
    'generate-content': [
      said['generate-content'](inline('image/png')),
      'contents.0.parts.0.inlineData.data',
    ],
  },
  'a data URL without data': {
    chat: [said.chat(image('data:image/png')), 'messages.0.content.0.image_url.url'],
    responses: [
      said.responses({ type: 'input_image', image_url: 'data:image/png' }),
      'input.0.content.0.image_url',
    ],
    messages: [
      said.messages(source('image', { type: 'url', url: 'data:image/png' })),
      'messages.0.content.0.source.url',
    ],
    'generate-content': [
      said['generate-content']({ fileData: { mimeType: 'image/png', fileUri: 'data:image/png' } }),
      'fileData.fileUri',
    ],
  },
  'an invalid address': {
    chat: [said.chat(image('file:///etc/passwd')), 'messages.0.content.0.image_url.url'],
    responses: [
      said.responses({ type: 'input_image', image_url: 'file:///etc/passwd' }),
      'input.0.content.0.image_url',
    ],
    messages: [
      said.messages(source('image', { type: 'url', url: 'file:///etc/passwd' })),
      'messages.0.content.0.source.url',
    ],
    'generate-content': [
      said['generate-content']({ fileData: { fileUri: 'file:///etc/passwd' } }),
      'fileData.fileUri',
    ],
  },
  'a file that is not base64': {
    chat: [
      said.chat({ type: 'file', file: { file_data: 'data:application/pdf;base64,%%%' } }),
      'messages.0.content.0.file.file_data',
    ],
    responses: [
      said.responses({ type: 'input_file', file_data: 'data:application/pdf;base64,%%%' }),
      'input.0.content.0.file_data',
    ],
    messages: [
      said.messages(source('document', bytes('application/pdf'))),
      'messages.0.content.0.source.data',
    ],
    'generate-content': [
      said['generate-content'](inline('application/pdf')),
      'contents.0.parts.0.inlineData.data',
    ],
  },
  'a result without an id': {
    chat: [messages(hello, { role: 'tool', content: '1' }), 'messages.1.tool_call_id'],
    responses: [input(hello, { type: 'function_call_output', output: '1' }), 'input.1.call_id'],
    messages: [
      said.messages({ type: 'tool_result', content: '1' }),
      'messages.0.content.0.tool_use_id',
    ],
    'generate-content': [
      said['generate-content']({ functionResponse: { response: {} } }),
      'functionResponse',
    ],
  },
  'K19 a result of a call that nobody made': {
    chat: [messages(hello, { role: 'tool', tool_call_id: 'x', content: '1' }), 'messages'],
    responses: [input(hello, { type: 'function_call_output', call_id: 'x', output: '1' }), 'input'],
    // Becomes text there, for Messages upstreams too.
    messages: null,
    'generate-content': [
      said['generate-content']({ functionResponse: { name: 'f', response: {} } }),
      'functionResponse',
    ],
  },
  'an invalid result': {
    chat: [answered.chat([5]), 'messages.2.content.0'],
    responses: [answered.responses([5]), 'input.2.output.0'],
    messages: [answered.messages([5]), 'messages.2.content.0.content.0'],
    'generate-content': [
      answered['generate-content']('text'),
      'contents.2.parts.0.functionResponse.response',
    ],
  },
  'a call without a name': {
    chat: [answered.chat('1', { function: { arguments: '{}' } }), 'messages.1.tool_calls.0'],
    responses: [answered.responses('1', { name: undefined }), 'input.1.name'],
    messages: [answered.messages('1', { name: undefined }), 'messages.1.content.0.name'],
    'generate-content': [
      answered['generate-content']({}, { name: undefined }),
      'contents.1.parts.0.functionCall.name',
    ],
  },
  'arguments by an invalid schema': {
    chat: [tool.chat('object'), 'tools.0.function.parameters'],
    responses: [tool.responses([]), 'tools.0.parameters'],
    messages: [tool.messages(true), 'tools.0.input_schema'],
    'generate-content': [
      tool['generate-content'](7),
      'tools.0.functionDeclarations.0.parametersJsonSchema',
    ],
  },
  'a response by an invalid schema': {
    chat: [form.chat('object'), 'response_format.json_schema.schema'],
    responses: [form.responses([]), 'text.format.schema'],
    messages: [form.messages(true), 'output_config.format'],
    'generate-content': [form['generate-content'](7), 'generationConfig.responseJsonSchema'],
  },
};

const empty = { type: 'object', properties: {} };
const ring = { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } };
const names = Array.from({ length: 1_000 }, (_, at) => `p${at}`);
const large = 'of a thousand properties';
const changed = new Set(['of a list', 'without names of its properties', 'that is itself']);
/** Schemas that mean nothing or too much: they are passed on as far as they can be. */
const odd: Readonly<Record<string, object>> = {
  'of a list': { type: 'array', items: {} },
  'without names of its properties': { type: 'object', properties: ['a'] },
  'that is itself': { ...empty, $ref: '#' },
  'that runs in a ring': { ...empty, properties: { a: { $ref: '#/$defs/a' } }, $defs: ring },
  'that points to nothing': { ...empty, properties: { a: { $ref: '#/$defs/none' } } },
  [large]: {
    ...empty,
    properties: Object.fromEntries(names.map((name) => [name, { type: 'string', const: name }])),
  },
};

/** Not a number, a number that cannot be written again, and one that can; as the JSON text has them. */
const numbers = listed(
  '-1 1.5 9007199254740993 -9007199254740993 18446744073686646784 1e308 1e400 -1e400 "1e3" "NaN" [1] 7',
);
/** Where a client says numbers that are written anew for the upstream; some count only beside something else. */
const numbered: Readonly<Record<ProtocolName, readonly string[]>> = {
  chat: listed(
    'n max_tokens max_completion_tokens temperature top_p top_k seed presence_penalty frequency_penalty top_logprobs',
  ),
  responses: listed('max_output_tokens temperature top_p top_logprobs'),
  messages: listed('max_tokens temperature top_p top_k thinking.budget_tokens'),
  'generate-content': listed(
    'maxOutputTokens candidateCount temperature topP topK seed logprobs presencePenalty frequencyPenalty max_output_tokens thinkingConfig',
  ).map((name) => `generationConfig.${name}`),
};
const beside: Readonly<Record<string, string>> = {
  top_logprobs: '"logprobs":true,"include":["message.output_text.logprobs"],',
  'thinking.budget_tokens': '"type":"enabled",',
  'generationConfig.logprobs': '"responseLogprobs":true,',
};

function listed(words: string): string[] {
  return words.split(' ');
}

/** The request of a client that says `number` there; the text makes it known among others. */
function saying(client: TextProtocol, model: string, field: string, number: string, text: string) {
  const [outer = '', inner] = field.split('.');
  const { [outer]: _, ...body } = client.body(model, false, text);
  const more = beside[field] ?? '';
  const value = inner === 'thinkingConfig' ? `{"thinkingBudget":${number}}` : number;
  const said =
    inner === undefined ? `${more}"${outer}":${value}` : `"${outer}":{${more}"${inner}":${value}}`;
  return `${JSON.stringify(body).slice(0, -1)},${said}}`;
}

/** What a refusal calls it: as it was written, or as its documentation spells it. */
function memberOf(field: string): RegExp {
  const last = field.split('.').at(-1)!;
  const camel = last.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return new RegExp(
    `\\b(${last}|${camel}${/logprobs/.test(last) ? '|logprobs|log probabilities' : ''})\\b`,
  );
}

/** What is left, and held for nobody. */
async function balance(): Promise<bigint> {
  const response = await fetch(`${shared.gateway.url}/v1/usage`, {
    headers: { authorization: `Bearer ${testKey}` },
  });
  const { limits } = (await response.json()) as { limits: { balance: string } };
  return nanoOf(limits.balance);
}

let opening = 0n;
beforeAll(async () => {
  opening = await balance();
});

describe.each(pairs)('$name', ({ client, upstream }) => {
  const model = `at-${upstream}`;

  async function post(members: object) {
    const { simulator, post: send } = shared.gateway;
    const before = simulator.requests().length;
    const body = { ...client.body(model, false), ...members };
    const response = await send(client.path(model, false), body);
    return {
      status: response.status,
      text: await response.text(),
      id: response.headers.get('x-request-id') ?? '',
      lost: response.headers.get('x-sluice-conversion'),
      asked: simulator.requests().length - before,
    };
  }

  test('a bad request names its fault, and nothing is sent or charged', async () => {
    const ids: string[] = [];
    for (const [name, of] of Object.entries(wrongs)) {
      const wrong = of[client.name];
      if (wrong === null) continue;
      const [members, place] = wrong;
      const { status, text, id, asked } = await post(members);
      expect([status, asked], name).toEqual([400, 0]);
      const json = JSON.parse(text) as { error: { param?: string } };
      expect(client.errorMessage(json), name).toContain(place);
      if (client.name === 'chat' || client.name === 'responses') {
        expect(json.error.param, name).toBe(place);
      }
      ids.push(id);
    }
    expect(ids.length).toBeGreaterThan(9);
    const rows = (await shared.gateway.usage()).filter(({ id }) => ids.includes(id));
    expect(rows).toHaveLength(ids.length);
    for (const { outcome, status, attempts, tokens, cost } of rows) {
      expect([outcome, status, attempts]).toEqual(['refused', 400, []]);
      expect([tokens.input, tokens.output, Number(cost)]).toEqual([0, 0, 0]);
    }
  });

  test('S-37 a number is sent as written or refused by name, and the charge is exact', async () => {
    const { simulator, post: send } = shared.gateway;
    const before = simulator.requests().length;
    const cases = numbered[client.name].flatMap((field) =>
      numbers.map((number) => ({ field, number, text: `${field} of ${number} to ${upstream}.` })),
    );
    const outcomes = new Map<string, (typeof cases)[number] & { status: number; said: string }>();
    for (const field of numbered[client.name]) {
      const some = cases.filter((one) => one.field === field);
      await Promise.all(
        some.map(async (one) => {
          const body = saying(client, model, field, one.number, one.text);
          const response = await send(client.path(model, false), body);
          const said = await response.text();
          const id = response.headers.get('x-request-id') ?? '';
          outcomes.set(id, { ...one, status: response.status, said });
        }),
      );
    }
    const asked = simulator.requests().slice(before);
    const rows = new Map((await shared.gateway.usage()).map((row) => [row.id, row]));
    for (const [id, { field, number, text, status, said }] of outcomes) {
      const name = `${field}: ${number}`;
      const row = rows.get(id)!;
      const bodies = asked
        .map(({ body }) => body)
        .filter((body) => body.includes(JSON.stringify(text).slice(1, -1)));
      // Neither rounded, nor the null that stands for an invalid number.
      for (const body of bodies) {
        expect(body, name).not.toMatch(/:null|:-?900719925474099[24]|:184467440736866[45]\d/);
      }
      // Clients draw seeds of 64 bits, and every other protocol leaves those out.
      const isLongSeed = client.name === 'chat' && field === 'seed' && /^\d{16,}$/.test(number);
      if (isLongSeed) expect([name, status]).toEqual([name, 200]);
      if (status === 200) {
        expect(bodies, name).toHaveLength(1);
        const cost = BigInt(row.tokens.input) * 1000n + BigInt(row.tokens.output) * 2000n;
        expect([name, nanoOf(row.cost)]).toEqual([name, cost]);
        expect(cost > 0n, name).toBe(true);
        continue;
      }
      expect([name, status, row.cost]).toEqual([name, 400, null]);
      const message = client.errorMessage(JSON.parse(said));
      if (bodies.length === 0) expect(message, name).toMatch(memberOf(field));
    }
    // What can be said is said.
    const good = [...outcomes.values()].filter(
      ({ number, status }) => number === '7' && status === 200,
    );
    expect(good.length).toBeGreaterThanOrEqual(2);
  });

  test('an odd schema is passed on as far as possible, and changes are reported', async () => {
    for (const [name, schema] of Object.entries(odd)) {
      const { status, lost, asked } = await post(tool[client.name](schema));
      expect([status, asked], name).toEqual([200, 1]);
      const isChanged = upstream === 'generate-content' ? name !== large : changed.has(name);
      expect(lost, name).toBe(isChanged ? 'approx=tool.schema' : null);
    }
  });
});

test('a refusal leaves no hold behind: the balance falls only by the charges', async () => {
  await shared.gateway.usage();
  const { kysely } = shared.gateway.app.database;
  const rows = await kysely.selectFrom('usage').select(['outcome', 'cost']).execute();
  const charged = rows.reduce((sum, { cost }) => sum + (cost ?? 0n), 0n);
  expect(rows.filter(({ outcome }) => outcome === 'refused').length).toBeGreaterThan(100);
  expect(charged).toBeGreaterThan(0n);
  expect(await balance()).toBe(opening - charged);
});
