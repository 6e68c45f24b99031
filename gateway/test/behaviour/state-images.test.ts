import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import {
  accounts,
  answerAnything,
  ask,
  respond,
  type Person,
  type Reply,
} from './state-gateway.ts';

let gateway: TestGateway;
let upstream: OwnUpstream;

beforeAll(async () => {
  upstream = await startOwnUpstream();
  upstream.answer = (asked, response) => {
    if (!asked.path.includes('/images/')) return answerAnything(asked, response);
    const data = [{ b64_json: 'AAAA', size: '1024x1024' }];
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ created: 1, data }));
  };
  const channel = (name: string, models: string, state: string) => `
  - name: ${name}
    provider: simulator
    base_url: ${upstream.url}
    api_key: upstream-key
    protocols: [responses, images, generate-content]
    models: [${models}]
    state: ${state}`;
  gateway = await startTestGateway({
    config: `channels:${channel('guarded', 'demo-chat, demo-image', 'guarded')}${channel('owned', 'owned-image', 'owned')}
    shared_state: ["files/shared", file-shared]
models:
  - { id: demo-image, type: image, capabilities: [edits], price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }
  - { id: owned-image, type: image, capabilities: [edits], price: { image_tiers: [{ name: 1K, max_pixels: 2000000, price: 0.04 }] } }
${accounts}`,
  });
});
afterEach(() => upstream.clear());
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

const edit = (person: Person, model: string, more: object): Promise<Reply> =>
  ask(gateway, person, '/v1/images/edits', { model, prompt: 'make it night', ...more });
const draw = (person: Person, model: string, file: object): Promise<Reply> =>
  ask(gateway, person, `/v1beta/models/${model}:generateContent`, {
    contents: [{ role: 'user', parts: [{ text: 'make it night' }, file] }],
  });
const store = 'https://generativelanguage.googleapis.com/v1beta/files';

describe('files that another owner got', () => {
  test.each([
    ['images', (id: string) => ({ images: [{ file_id: id }] })],
    [
      'a mask',
      (id: string) => ({
        images: [{ url: 'data:image/png;base64,iVBORw0KGgo=' }],
        mask: { file_id: id },
      }),
    ],
    [
      'another spelling',
      (id: string) => ({ images: [{ file_id: 'file-x' }], extra: [{ FILE_ID: id }] }),
    ],
  ] as const)('are not for an edit: %s', async (_name, withFile) => {
    const { text } = await respond(gateway, 'alice');
    const id = /"file_id":"(cfile_\w+)"/.exec(text)?.[1] ?? '';
    expect(id).not.toBe('');
    upstream.clear();
    const refused = await edit('bob', 'demo-image', withFile(id));
    expect(refused.status).toBe(404);
    expect(refused.json['error']).toMatchObject({ code: 'not_found' });
    expect(upstream.asked).toHaveLength(0);
    expect((await edit('alice2', 'demo-image', withFile(id))).status).toBe(200);
    expect(upstream.asked).toHaveLength(1);
  });
});

describe('files of nobody, where only own ones pass', () => {
  test('are not for an edit, unless they are shared', async () => {
    const images = (id: string) => ({ images: [{ file_id: id }] });
    expect((await edit('alice', 'owned-image', images('file-1'))).status).toBe(404);
    expect(upstream.asked).toHaveLength(0);
    expect((await edit('alice', 'owned-image', images('file-shared'))).status).toBe(200);
    expect(upstream.asked).toHaveLength(1);
  });

  test.each([
    ['an address', { fileData: { fileUri: `${store}/abc` } }],
    ['the other spelling', { file_data: { file_uri: 'files/abc' } }],
  ])('are not for generateContent: %s', async (_name, file) => {
    expect((await draw('alice', 'owned-image', file)).status).toBe(404);
    expect(upstream.asked).toHaveLength(0);
  });

  test('pass with generateContent if they are shared', async () => {
    await draw('alice', 'owned-image', { fileData: { fileUri: `${store}/shared` } });
    expect(upstream.asked).toHaveLength(1);
  });

  test('do not pass in an address that is too long to compare', async () => {
    const fileUri = `${store}/abc?${'x'.repeat(500_000)}`;
    expect((await draw('alice', 'owned-image', { fileData: { fileUri } })).status).toBe(400);
    expect(upstream.asked).toHaveLength(0);
  });
});
