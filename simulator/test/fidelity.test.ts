import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startSimulator, type Simulator } from '../src/index.ts';
import { eventsOf, type Json } from './client.ts';
import { absence, readRecordings } from './recordings.ts';

/** Who answers for each protocol; compatible servers of others have their own ideas. */
const owners: Readonly<Record<string, string>> = {
  chat: 'openai',
  responses: 'openai',
  messages: 'anthropic',
  'generate-content': 'google',
  images: 'openai',
};

/** Fields of the simulator that the recordings do not have yet, or that other vendors send. */
const additions = ['reasoning_content', 'cache_write_tokens'];

const credentials = {
  authorization: 'Bearer key',
  'x-api-key': 'key',
  'anthropic-version': '2023-06-01',
  'anthropic-beta': 'what-was-used-then',
};

const requests: readonly (readonly [protocol: string, path: string, body: Json])[] = [
  ['chat', '/v1/chat/completions', { messages: [{ role: 'user', content: 'hi' }] }],
  [
    'responses',
    '/v1/responses',
    { input: 'hi', include: ['reasoning.encrypted_content'], reasoning: { summary: 'auto' } },
  ],
  ['messages', '/v1/messages', { max_tokens: 999, messages: [{ role: 'user', content: 'hi' }] }],
  [
    'generate-content',
    '/v1beta/models/demo-reasoning:',
    { contents: [{ parts: [{ text: 'hi' }] }] },
  ],
];
const imagesPath = '/v1/images/generations';

describe.skipIf(absence !== null)(`measured against recorded traffic ${absence ?? ''}`, () => {
  let simulator: Simulator;
  let recordings: Json[];
  beforeAll(async () => {
    simulator = await startSimulator();
    recordings = readRecordings().filter(
      ({ protocol, provider, status, endpoint }) =>
        owners[protocol] === provider && status === 200 && !/count/i.test(endpoint),
    );
  });
  afterAll(() => simulator.close());

  async function send(path: string, body: Json): Promise<Response> {
    const google = path.startsWith('/v1beta');
    return fetch(simulator.url + path, {
      method: 'POST',
      headers: google ? { 'x-goog-api-key': 'key' } : credentials,
      body: JSON.stringify(body),
    });
  }

  test('what the vendor accepted is accepted, except reasoning signed elsewhere', async () => {
    const refused: string[] = [];
    let sent = 0;
    for (const { id, protocol, request } of recordings) {
      if (!request || /count_tokens/.test(id)) continue;
      const [, base] = requests.find(([name]) => name === protocol) ?? ['', imagesPath];
      const path = base.endsWith(':') ? `${base}generateContent` : base;
      const named = protocol === 'images' ? request : { model: 'demo-chat', ...request };
      const response = await send(path, named);
      const text = await response.text();
      sent += 1;
      const foreign = /signature|encrypted content|`data` in `redacted_thinking`/i.test(text);
      if (response.status !== 200 && !foreign) refused.push(`${id}: ${text}`);
    }
    expect(sent).toBeGreaterThan(100);
    expect(refused).toEqual([]);
  });

  test('what the vendor refused of images is refused in its words', async () => {
    const refused = readRecordings().filter(
      ({ protocol, provider, status, request }) =>
        protocol === 'images' && provider === 'openai' && status === 400 && request,
    );
    expect(refused.length).toBeGreaterThan(0);
    for (const { request, body } of refused) {
      expect(await (await send(imagesPath, request)).json()).toEqual(body);
    }
  });

  test('responses of Ark have the members that Ark sends', async () => {
    const ark = readRecordings().find(({ id }) => id === 'images-ark-json-t01');
    const [theirs, ours] = [new Set<string>(), new Set<string>()];
    collectPaths(ark.body, '', theirs);
    const body = { model: 'doubao-seedream-5-0-260128', prompt: 'a cat' };
    collectPaths(await (await send('/api/v3/images/generations', body)).json(), '', ours);
    expect([...ours].toSorted()).toEqual([...theirs].toSorted());
  });

  test.each([
    ['dall-e-2', {}],
    ['dall-e-3', { response_format: 'b64_json' }],
    ['gpt-image-1', {}],
  ])('responses of %s have no member that the vendor never sends', async (model, more) => {
    const known = new Set<string>();
    for (const { protocol, body } of recordings) {
      if (protocol === 'images') collectPaths(body, '', known);
    }
    const response = await send(imagesPath, { model, prompt: 'a cat', ...more });
    const ours = new Set<string>();
    collectPaths(await response.json(), '', ours);
    expect([...ours].filter((path) => !known.has(path) && !path.startsWith('.usage'))).toEqual([]);
  });

  test.each(requests)(
    '%s answers have no field that the vendor never sends',
    async (name, base, body) => {
      for (const stream of [false, true]) {
        const known = new Set<string>();
        for (const recording of recordings) {
          if (recording.protocol !== name || (recording.sse !== undefined) !== stream) continue;
          const seen: Json[] = stream ? eventsOf(recording.sse) : [recording.body];
          for (const event of seen) collectPaths(event, '', known);
        }
        const method = stream ? 'streamGenerateContent?alt=sse' : 'generateContent';
        const response = base.endsWith(':')
          ? await send(base + method, body)
          : await send(base, { ...body, model: 'demo-reasoning', stream });
        const text = await response.text();
        const ours = new Set<string>();
        const events: Json[] = stream ? eventsOf(text) : [JSON.parse(text)];
        for (const event of events) collectPaths(event, '', ours);
        const invented = [...ours].filter((path) => !known.has(path));
        expect(ours.size).toBeGreaterThan(10);
        expect(invented.filter((path) => !additions.some((name) => path.endsWith(name)))).toEqual(
          [],
        );
      }
    },
  );
});

/** Every member as a path, with the type of tagged objects in it. */
function collectPaths(value: Json, path: string, into: Set<string>): void {
  if (Array.isArray(value)) {
    for (const entry of value) collectPaths(entry, `${path}[]`, into);
  } else if (typeof value === 'object' && value !== null) {
    const tag = typeof value.type === 'string' ? `<${value.type}>` : '';
    for (const [key, member] of Object.entries(value)) {
      into.add(`${path}${tag}.${key}`);
      if (!['args', 'input', 'tools', 'metadata'].includes(key)) {
        collectPaths(member, `${path}${tag}.${key}`, into);
      }
    }
  }
}
