import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { rowOf, until } from '../behaviour/support.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';

/* What a response costs whose model has called the picture tool: its text and its pictures, each in a row of its own. */

const picture = Buffer.alloc(24);
picture.write('\x89PNG\r\n\x1A\n', 0, 'latin1');

let upstream: OwnUpstream;
let gateway: TestGateway;
beforeAll(async () => {
  upstream = await startOwnUpstream();
  gateway = await startTestGateway({
    config: `
channels:
  - { name: text, provider: openai-compatible, base_url: "${upstream.url}", protocols: [chat], models: [writer, guided] }
  - { name: pictures, provider: openai-compatible, base_url: "${upstream.url}", protocols: [images], models: [painter, secret] }
models:
  - { id: writer, type: chat, image_tool_model: painter, max_output_tokens: 1000, price: { input: 1, output: 10 } }
  - { id: guided, type: chat, image_tool_model: secret, max_output_tokens: 1000, price: { input: 1, output: 10 } }
  - { id: painter, type: image, price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }] } }
  - { id: secret, type: image, price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }] } }
users:
  - { email: tester@example.com, balance: 1000 }
  - { email: poor@example.com, balance: 0.1 }
  - { email: needy@example.com, balance: 0.1 }
keys:
  - { name: test, user: tester@example.com, secret: ${testKey} }
  - { name: guided, user: tester@example.com, models: [guided], secret: ${keyOf('g')} }
  - { name: poor, user: poor@example.com, secret: ${keyOf('p')} }
  - { name: needy, user: needy@example.com, secret: ${keyOf('q')} }
`,
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

function keyOf(letter: string): string {
  return `sk-${letter.repeat(40)}`;
}

/** Milliseconds until the picture comes, and its status. */
let slow = 0;
let status = 200;
/** How many pictures the model asks for. */
let calls = 1;
beforeEach(() => {
  slow = 0;
  status = 200;
  calls = 1;
  upstream.clear();
  upstream.answer = ({ path, body }, response) => {
    if (path.endsWith('/images/generations')) void answerPicture(response);
    else answerText(body['stream'] === true, response);
  };
});

type Reply = Parameters<OwnUpstream['answer']>[1];

async function answerPicture(response: Reply): Promise<void> {
  await wait(slow);
  const data = [{ b64_json: picture.toString('base64'), size: '1024x1024' }];
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(status === 200 ? { created: 1, data } : { error: {} }));
}

function answerText(stream: boolean, response: Reply): void {
  const tool_calls = Array.from({ length: calls }, (_, index) => ({
    index,
    id: `call_${index}`,
    type: 'function',
    function: { name: 'image_generation', arguments: '{"prompt":"A red house"}' },
  }));
  const usage = { prompt_tokens: 100, completion_tokens: 20, total_tokens: 120 };
  const choice = { index: 0, finish_reason: 'tool_calls' };
  if (!stream) {
    const message = { role: 'assistant', content: 'Here it is.', tool_calls };
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ choices: [{ ...choice, message }], usage }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  const delta = { role: 'assistant', content: 'Here it is.', tool_calls };
  const chunks = [{ choices: [{ ...choice, delta }] }, { choices: [], usage }];
  for (const chunk of chunks) response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  response.end('data: [DONE]\n\n');
}

const question = { input: 'A house', tools: [{ type: 'image_generation' }] };

async function ask(model: string, stream: boolean, key = testKey) {
  const response = await gateway.post(
    '/v1/responses',
    { ...question, model, stream },
    { authorization: `Bearer ${key}` },
  );
  const id = response.headers.get('x-request-id') ?? '';
  const text = await response.text();
  const row = await rowOf(gateway, id);
  return { id, text, row, pictureRow: (at = 1) => rowOf(gateway, `${id}_picture_${at}`) };
}

const textCost = '0.0003';

describe.each([false, true])('stream: %s', (stream) => {
  test('the text and the picture are two rows, each exact', async () => {
    const { text, row, pictureRow } = await ask('writer', stream);
    expect(text).toContain(picture.toString('base64'));
    expect(text).toContain('"status":"completed"');
    expect(row).toMatchObject({ outcome: 'completed', model: 'writer', cost: textCost });
    expect(row.units).toBeNull();
    const drawn = await pictureRow();
    expect(drawn).toMatchObject({
      outcome: 'completed',
      model: 'painter',
      channel: 'pictures',
      cost: '0.04',
      units: { images: 1 },
    });
    expect(drawn.attempts).toHaveLength(1);
    expect(drawn.key).toBe(row.key);
  });

  test('a picture that fails costs nothing, and is asked for once', async () => {
    status = 500;
    const { text, row, pictureRow } = await ask('writer', stream);
    expect(text).toContain('"status":"failed"');
    expect(row).toMatchObject({ outcome: 'completed', cost: textCost });
    expect(await pictureRow()).toMatchObject({ outcome: 'failed', status: 502, cost: null });
    expect(upstream.asked).toHaveLength(2);
  });

  test('a key that may not use the image model gets no picture', async () => {
    const { text, row, pictureRow } = await ask('guided', stream, keyOf('g'));
    expect(text).toContain(`model 'secret' is not allowed for this API key`);
    expect(row).toMatchObject({ outcome: 'completed', cost: textCost });
    expect(await pictureRow()).toMatchObject({ outcome: 'refused', status: 403, cost: null });
    expect(upstream.asked).toHaveLength(1);
  });

  test('a client that leaves while a picture is drawn pays for it', async () => {
    slow = 1500;
    const leaving = new AbortController();
    const asking = fetch(`${gateway.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ ...question, model: 'writer', stream }),
      signal: leaving.signal,
    }).then((response) => response.text());
    await until(() => upstream.asked.length === 2, 'a picture is asked for');
    leaving.abort();
    await expect(asking).rejects.toThrow('abort');
    await until(
      async () => (await gateway.usage())[0]?.model === 'painter',
      'the picture has a row',
    );
    const [drawn, text] = await gateway.usage();
    expect(drawn).toMatchObject({ cost: '0.04', units: { images: 1 } });
    expect(text).toMatchObject({ model: 'writer', cost: textCost });
    expect(drawn?.id).toBe(`${String(text?.id)}_picture_1`);
  });

  test('pictures are drawn as long as there is money', async () => {
    calls = 4;
    const { text, row, pictureRow } = await ask('writer', stream, keyOf(stream ? 'q' : 'p'));
    expect(row).toMatchObject({ outcome: 'completed', cost: textCost });
    const rows = await Promise.all([1, 2, 3, 4].map((at) => pictureRow(at)));
    expect(rows.map(({ cost, status: code }) => [cost, code])).toEqual([
      ['0.04', 200],
      ['0.04', 200],
      ['0.04', 200],
      [null, 402],
    ]);
    expect(text).toContain('insufficient balance');
  });
});
