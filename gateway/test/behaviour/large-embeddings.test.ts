import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFarSide, type FarSide } from '../support/far-side.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { attemptsOf, rowOf, sendRaw, until } from './support.ts';

/* Large requests for embeddings and large responses are read in threads: nobody else waits, nothing else differs. */

const mebibyte = 2 ** 20;
/** Milliseconds of CPU time; 50 are meant, and machines differ. */
const longest = 500;
const json = { 'content-type': 'application/json' };

let far: FarSide;
let gateway: TestGateway;

beforeAll(async () => {
  far = await startFarSide();
  const models = ['same', 'mapped'];
  gateway = await startTestGateway({
    config: `
channels:
  - { name: far, provider: simulator, base_url: "${far.url}", models: [same, { name: mapped, upstream: theirs }] }
  - { name: spare, provider: simulator, base_url: "${far.url}", models: [same] }
  - { name: sim, provider: simulator, base_url: SIMULATOR, models: [{ name: simulated, upstream: demo-embedding }] }
models:
${[...models, 'simulated'].map((id) => `  - { id: ${id}, type: embedding, context_window: 8192, price: { input: 1 } }`).join('\n')}
`,
  });
});

afterAll(async () => {
  await gateway.close();
  await far.close();
});

/** Posts bytes that are there already, and gives the head and the beginning of the response. */
async function postBytes(body: Buffer): Promise<string> {
  const head = `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`;
  const client = await sendRaw(gateway.url, head);
  client.socket.write(body);
  await until(() => client.received().includes('}'), 'a response', 30_000);
  client.socket.destroy();
  return client.received();
}

const request = (input: string, more = ''): Buffer =>
  Buffer.from(`{"model":"simulated"${more},"input":${input}}`);
const list = (item: string, bytes: number): string =>
  `[${`${item},`.repeat(bytes / (item.length + 1))}${item}]`;

test.each([
  ['60 MiB of tokens', list('12345', 60 * mebibyte)],
  ['30 MiB of lists', list('[1]', 30 * mebibyte)],
  ['30 MiB of nesting', list(`${'['.repeat(400)}${']'.repeat(400)}`, 30 * mebibyte)],
  ['900 KiB of lists', list('[1]', 900 * 1024)],
])(
  'a request with %s delays nobody',
  async (_, input) => {
    const body = request(input);
    await postBytes(request(`["${'a'.repeat(2 * mebibyte)}"]`));
    let answer = '';
    const held = await longestTurn(async () => {
      answer = await postBytes(body);
    });
    expect(answer).toContain('HTTP/1.1 400');
    expect(held).toBeLessThan(longest);
  },
  60_000,
);

const vectors = (vector: string, bytes: number): string => {
  const one = `{"object":"embedding","index":0,"embedding":${vector}}`;
  return `{"object":"list","data":${list(one, bytes)},"model":"theirs","usage":{"prompt_tokens":7,"total_tokens":7}}`;
};

test.each([
  ['long vectors', vectors(list('-0.0123456789', 40_000), 60 * mebibyte)],
  ['short vectors', vectors('[1]', 30 * mebibyte)],
  ['vectors of lists', vectors(list('[]', 40_000), 30 * mebibyte)],
])(
  'a response with %s delays nobody',
  async (_, text) => {
    const body = Buffer.from(text);
    const held = await longestTurn(async () => {
      const { status, id, bytes } = await far.ask(
        gateway,
        '/v1/embeddings',
        { model: 'mapped', input: 'a' },
        { headers: json, body },
      );
      expect(status).toBe(200);
      expect(bytes).toBe(body.length);
      expect(await rowOf(gateway, id)).toMatchObject({
        outcome: 'completed',
        tokens: { input: 7 },
      });
    });
    expect(held).toBeLessThan(longest);
  },
  60_000,
);

test.each([
  ['cut', '{"data":[{"embedding":"'],
  ['without vectors', '{"usage":{"prompt_tokens":7}}'],
  ['an error', '{"error":{"message":"no"}}'],
])('a large response that cannot be used: %s', async (_, text) => {
  for (const filler of ['', `,"filler":"${'a'.repeat(mebibyte)}"`]) {
    const body = Buffer.from(text.replace(/\}?$/, (end) => filler + end));
    const { status, id } = await far.ask(
      gateway,
      '/v1/embeddings',
      { model: 'same', input: 'a' },
      { headers: json, body },
    );
    expect(status).toBe(502);
    expect(await rowOf(gateway, id)).toMatchObject({ outcome: 'failed', cost: null });
  }
});

test('a large request reaches the upstream with nothing but the name of its model changed', async () => {
  gateway.simulator.clear();
  const text = `{ "user":"u", "model" : "simulated","big":12345678901234567890,"input":["a"],"filler":"${'a'.repeat(2 * mebibyte)}"}`;
  const response = await gateway.post('/v1/embeddings', text);
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ model: 'simulated' });
  const [asked] = gateway.simulator.requests();
  // The simulator keeps the beginning of what it was sent.
  const beginning = text.replace('simulated', 'demo-embedding').slice(0, 1000);
  expect(String(asked?.body).slice(0, 1000)).toBe(beginning);
});

test('large requests are refused like small ones, in the same order', async () => {
  const ask = async (body: object | string) => {
    const response = await gateway.post('/v1/embeddings', body);
    return [response.status, await response.text()];
  };
  const filler = 'a'.repeat(2 * mebibyte);
  for (const body of [{ input: 'a' }, { model: 'nobody' }, { model: 'simulated' }]) {
    const small = await ask(body);
    expect(small[0]).toBe(400);
    expect(await ask({ ...body, filler })).toEqual(small);
  }
  const two = '{"model":"simulated","model":"same","input":"a"';
  expect(await ask(`${two},"filler":"${filler}"}`)).toEqual(await ask(`${two}}`));
});

test('tokens are counted exactly for the hold of a large request', async () => {
  const tokens = 8_000;
  const input = `[${Array.from({ length: 2 }, () => list('1', 2 * tokens - 2)).join(',')}]`;
  const body = `{"model":"simulated","input":${input}}`;
  const response = await gateway.post('/v1/embeddings', body);
  expect(response.status).toBe(200);
  await response.text();
  const id = response.headers.get('x-request-id') ?? '';
  expect(await rowOf(gateway, id)).toMatchObject({ tokens: { input: 2 * tokens } });
  const { held } = await gateway.app.database.kysely
    .selectFrom('usage')
    .select('held')
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  const around = Math.ceil((body.length - input.length) / 2);
  expect(held).toBe(BigInt(2 * tokens + around) * 1000n);
});

test('a response that is too large ends the request without blaming the channel or asking another', async () => {
  const body = Buffer.alloc(64 * mebibyte + 1, ' ');
  for (let round = 0; round < 3; round += 1) {
    const { status, id } = await far.ask(
      gateway,
      '/v1/embeddings',
      { model: 'same', input: 'a' },
      { headers: json, body },
    );
    expect(status).toBe(502);
    expect(attemptsOf(await rowOf(gateway, id))).toHaveLength(1);
  }
});

test('a large response that is larger than the memory for bodies is given alone, and its memory is released', async () => {
  const own = await startTestGateway({
    config: `
limits: { body_memory: 4MiB }
channels:
  - { name: far, provider: simulator, base_url: "${far.url}", models: [same] }
models: [{ id: same, type: embedding, context_window: 8192, price: { input: 1 } }]
`,
  });
  const body = Buffer.from(vectors(list('-0.0123456789', 1536), 8 * mebibyte));
  for (let round = 0; round < 2; round += 1) {
    const { status, bytes } = await far.ask(
      own,
      '/v1/embeddings',
      { model: 'same', input: 'a' },
      { headers: json, body },
    );
    expect([status, bytes]).toEqual([200, body.length]);
    await until(async () => {
      const metrics = await (await fetch(`${own.url}/metrics`)).text();
      return /^sluice_body_memory_bytes 0$/m.test(metrics);
    }, 'all is given back');
  }
  await own.close();
});
