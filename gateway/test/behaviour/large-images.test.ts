import { createImage } from 'simulator';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startFarSide, type FarSide } from '../support/far-side.ts';
import { startTestGateway, testKey, type TestGateway } from '../support/gateway.ts';
import { longestTurn } from '../support/longest-turn.ts';
import { rowOf, sendRaw, until } from './support.ts';

/* Pictures of megabytes, both ways: nobody else waits for them, and no byte changes. */

const mebibyte = 2 ** 20;
/** Milliseconds of CPU time; 50 are meant, and machines differ. */
const longest = 500;
const json = { 'content-type': 'application/json' };

let far: FarSide;
let gateway: TestGateway;

beforeAll(async () => {
  far = await startFarSide();
  gateway = await startTestGateway({
    config: `
channels:
  - { name: far, provider: simulator, base_url: "${far.url}", models: [same, { name: mapped, upstream: theirs }] }
  - { name: parts, provider: simulator, base_url: "${far.url}", protocols: [generate-content], models: [parts] }
  - { name: ark, provider: ark, base_url: "${far.url}", api_key: z, models: [ark] }
models:
${['same', 'mapped', 'parts', 'ark'].map((id) => `  - { id: ${id}, type: image, capabilities: [edits, multi_reference], price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }`).join('\n')}
`,
  });
});
afterAll(async () => {
  await gateway.close();
  await far.close();
});

const responseOf = (bytes: number, model = 'same'): Buffer =>
  Buffer.from(
    `{"created":1,"model":"${model}","data":[{"b64_json":"${'A'.repeat(bytes)}","size":"512x512"}]}`,
  );

test.each([
  ['60 MiB', 'same', 60],
  ['60 MiB with its name', 'mapped', 60],
  ['200 MiB', 'same', 200],
])(
  'a response of %s delays nobody',
  async (_, model, size) => {
    const body = responseOf(size * mebibyte, model === 'mapped' ? 'theirs' : model);
    const asked = { model, prompt: 'a' };
    const small = { headers: json, body: responseOf(8) };
    await far.ask(gateway, '/v1/images/generations', asked, small);
    let response = { status: 0, id: '', bytes: 0, head: '' };
    const held = await longestTurn(async () => {
      response = await far.ask(gateway, '/v1/images/generations', asked, { headers: json, body });
    });
    expect(response.status).toBe(200);
    expect(response.bytes).toBe(responseOf(0, model).length + size * mebibyte);
    expect(response.head).toContain(`"model":"${model}"`);
    expect((await rowOf(gateway, response.id)).cost).toBe('0.04');
    expect(held).toBeLessThan(longest);
  },
  60_000,
);

/** Posts bytes that are there already, and gives the status line. */
async function post(path: string, type: string, body: Buffer): Promise<string> {
  const head = `POST ${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n`;
  const client = await sendRaw(gateway.url, head);
  client.socket.write(body);
  await until(() => client.received().includes('\r\n'), 'a response', 30_000);
  client.socket.destroy();
  return client.received().split('\r\n', 1)[0] ?? '';
}

const png = createImage({ type: 'png', width: 64, height: 64 });

function formOf(bytes: number, model: string): Buffer {
  const field = (name: string, value: string) =>
    `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`;
  const file =
    '--b\r\ncontent-disposition: form-data; name="image"; filename="a.png"\r\ncontent-type: image/png\r\n\r\n';
  return Buffer.concat([
    Buffer.from(field('prompt', 'a') + file),
    png,
    Buffer.alloc(bytes, '\r\n-'),
    Buffer.from(`\r\n${field('model', model)}--b--\r\n`),
  ]);
}

const jsonOf = (bytes: number, model: string): Buffer =>
  Buffer.from(
    `{"prompt":"a","image":"data:image/png;base64,${png.toString('base64').replaceAll('=', '')}${'A'.repeat(bytes)}","model":"${model}"}`,
  );

test.each([
  ['a form with 48 MiB', '/v1/images/edits', 'multipart/form-data; boundary=b', formOf],
  ['JSON with 60 MiB', '/v1/images/generations', 'application/json', jsonOf],
])(
  'a request that is %s delays nobody',
  async (_, path, type, bodyOf) => {
    const small = { headers: json, body: responseOf(8) };
    await far.ask(gateway, '/v1/images/generations', { model: 'same', prompt: 'a' }, small);
    await post(path, type, bodyOf(2 * mebibyte, 'same'));
    for (const model of ['same', 'mapped']) {
      const body = bodyOf((path.endsWith('edits') ? 48 : 60) * mebibyte, model);
      let status = '';
      const held = await longestTurn(async () => {
        status = await post(path, type, body);
      });
      expect(status).toBe('HTTP/1.1 200 OK');
      expect(held).toBeLessThan(longest);
    }
  },
  60_000,
);

const escapes = (bytes: number): string => '\\u00e9'.repeat(bytes / 6);
const chatOf = (bytes: number): Buffer =>
  Buffer.from(
    `{"model":"same","messages":[{"role":"system","content":"${escapes(bytes)}"},{"role":"user","content":"a"}]}`,
  );
const contentsOf = (bytes: number): Buffer =>
  Buffer.from(
    `{"systemInstruction":{"parts":[{"text":"${escapes(bytes)}"}]},"contents":[{"parts":[{"text":"a"}]}]}`,
  );
const withUser = (bytes: number, model: string): Buffer =>
  Buffer.from(
    `{"model":"${model}","prompt":"a","image":"https://example.com/a.png","user":"${escapes(bytes)}"}`,
  );
const withoutImage = (bytes: number): Buffer =>
  Buffer.from(`{"model":"parts","prompt":"a","user":"${escapes(bytes)}"}`);

const image = png.toString('base64');
const drawn = Buffer.from(`{"data":[{"b64_json":"${image}","size":"64x64"}]}`);
const parts = Buffer.from(
  `{"candidates":[{"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"${image}"}}]},"finishReason":"STOP"}]}`,
);

test.each([
  ['a chat', '/v1/chat/completions', drawn, chatOf],
  ['generateContent', '/v1beta/models/ark:generateContent', drawn, contentsOf],
  [
    'generateContent at its own upstream',
    '/v1beta/models/parts:generateContent',
    parts,
    contentsOf,
  ],
  ['a generation for generate-content', '/v1/images/generations', parts, withoutImage],
  ['an edit for Ark', '/v1/images/edits', drawn, (bytes: number) => withUser(bytes, 'ark')],
])(
  'a large request with escapes delays nobody: %s',
  async (_, path, upstream, bodyOf) => {
    const first = { model: 'same', prompt: 'a' };
    await far.ask(gateway, '/v1/images/generations', first, { headers: json, body: upstream });
    // Starts a thread.
    expect(await post(path, 'application/json', bodyOf(2 * mebibyte))).toBe('HTTP/1.1 200 OK');
    const body = bodyOf(30 * mebibyte);
    let status = '';
    const held = await longestTurn(async () => {
      status = await post(path, 'application/json', body);
    });
    expect(status).toBe('HTTP/1.1 200 OK');
    expect(held).toBeLessThan(longest);
  },
  60_000,
);
