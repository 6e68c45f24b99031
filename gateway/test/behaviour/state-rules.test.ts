import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApp, type App } from '#app/index.ts';
import { parseConfig } from '#config/index.ts';
import { createMigratedDatabase, dialects, isSkipped } from '../database/databases.ts';
import { startTestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import {
  accounts,
  answerAnything,
  ask,
  channelAt,
  eventsOf,
  idOf,
  itemsOf,
  respond,
  responseBody,
  shareStateGateway,
} from './state-gateway.ts';

describe('owned', () => {
  const lines: { readonly message: string; readonly fields: unknown }[] = [];
  const shared = shareStateGateway('state: owned; shared_state: [vs_handbook, "file-*"]', {
    logger: { info: (message, fields) => void lines.push({ message, fields }) },
  });

  test('accepts its own ids turn after turn, and shared ids', async () => {
    const { gateway } = shared;
    const first = await respond(gateway, 'alice');
    const references = itemsOf(first).map(({ id }) => ({ type: 'item_reference', id }));
    const input = [...references, { role: 'user', content: 'and then?' }];
    const second = await respond(gateway, 'alice2', { input });
    expect(second.status).toBe(200);
    const next = { previous_response_id: idOf(second) };
    expect((await respond(gateway, 'alice', next)).status).toBe(200);
    for (const vector_store_ids of [['vs_handbook'], ['vs_handbook', 'file-1']]) {
      const tools = [{ type: 'file_search', vector_store_ids }];
      expect((await respond(gateway, 'bob', { tools })).status).toBe(200);
    }
  });

  test('refuses foreign and unknown ids in the same words, and logs the kind', async () => {
    const { gateway, upstream } = shared;
    const previous_response_id = idOf(await respond(gateway, 'alice'));
    upstream.clear();
    lines.length = 0;
    const started = performance.now();
    const [foreign, unknown] = await Promise.all([
      respond(gateway, 'bob', { previous_response_id }),
      respond(gateway, 'bob', { previous_response_id: 'resp_nobody_has' }),
    ]);
    // Another node's journal may be on its way; the other owner's is waited for as long.
    expect(performance.now() - started).toBeGreaterThan(1_900);
    expect(foreign.status).toBe(404);
    expect(foreign.text).toBe(unknown.text);
    expect(upstream.asked).toEqual([]);
    const fields = { component: 'upstream-state', channel: 'main' };
    expect(lines).toMatchObject([{ fields }, { fields }]);
    expect(lines.every(({ message }) => message.includes('response'))).toBe(true);
    expect(JSON.stringify(lines)).not.toMatch(/resp_|alice|usr_/);
  });

  test.each(['vs_other', 'vs_handbook2', 'xfile-1'])('does not share %s', async (id) => {
    const tools = [{ type: 'file_search', vector_store_ids: ['vs_handbook', id] }];
    expect((await respond(shared.gateway, 'bob', { tools })).status).toBe(404);
  });

  test('covers files and caches of the vendor in every spelling, but not public media', async () => {
    const { gateway } = shared;
    const path = '/v1beta/models/demo-chat:generateContent';
    const media = (fileUri: string, name = 'fileUri') => ({
      contents: [
        { role: 'user', parts: [{ fileData: { mimeType: 'image/png', [name]: fileUri } }] },
      ],
    });
    const hello = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
    const host = 'generativelanguage.googleapis.com';
    const refused = [
      media('files/abc'),
      media(`https://${host}/v1beta/files/abc`),
      media(`HTTPS://${host.toUpperCase()}/v1beta/files/abc?alt=media`, 'file_uri'),
      media(`https://${host}./v1beta/files/abc`),
      media('https://generativelanguage.mtls.googleapis.com/v1beta/files/abc'),
      media('https://us-generativelanguage.googleapis.com/v1beta/files/%61bc'),
      { ...hello, cachedContent: 'cachedContents/abc' },
      { ...hello, cached_content: 'cachedContents/abc' },
      { ...hello, tools: [{ fileSearch: { fileSearchStoreNames: ['fileSearchStores/abc'] } }] },
    ];
    const replies = await Promise.all(refused.map((body) => ask(gateway, 'bob', path, body)));
    expect(replies.map(({ status }) => status)).toEqual(refused.map(() => 404));
    expect(replies[0]?.json).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    const open = [
      media('https://papers.example/files/abc.png'),
      media('https://www.youtube.com/watch?v=abc'),
      media('gs://bucket/files/abc.png'),
      media(`https://storage.googleapis.com/bucket/files/abc.png`),
    ];
    for (const body of open) expect((await ask(gateway, 'bob', path, body)).status).toBe(200);
  });

  test('refuses more ids than any conversation has before any look-up', async () => {
    const input = Array.from({ length: 5_000 }, (_, at) => ({
      type: 'item_reference',
      id: `msg_${at}`,
    }));
    const reply = await respond(shared.gateway, 'alice', { input });
    expect(reply.status).toBe(400);
    expect(reply.text).toContain('more than 4096');
  });

  test('refuses a conversation that the gateway never gave out, although a response repeats it', async () => {
    const { gateway, upstream } = shared;
    upstream.answer = ({ body }, response) => {
      const whole = { ...responseBody(body), conversation: { id: 'file-shared' } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(whole));
    };
    const body = { conversation: 'file-shared' };
    for (const person of ['alice', 'bob', 'alice'] as const) {
      expect((await respond(gateway, person, body)).status).toBe(200);
    }
    upstream.answer = answerAnything;
  });
});

describe('any', () => {
  const shared = shareStateGateway('state: any');

  test('checks nothing', async () => {
    const { gateway } = shared;
    const previous_response_id = idOf(await respond(gateway, 'alice'));
    expect((await respond(gateway, 'bob', { previous_response_id })).status).toBe(200);
  });
});

describe('channels with different settings', () => {
  let upstream: OwnUpstream;
  let gateway: Awaited<ReturnType<typeof startTestGateway>>;
  beforeAll(async () => {
    upstream = await startOwnUpstream();
    upstream.answer = answerAnything;
    const config = `channels:${channelAt(upstream.url, 'strict', 'state: owned; priority: 9')}${channelAt(upstream.url, 'open', 'state: any')}${accounts}`;
    gateway = await startTestGateway({ config });
  });
  afterAll(async () => {
    await gateway.close();
    await upstream.close();
  });
  const channelOf = async (reply: { readonly headers: Headers }) =>
    (await gateway.usage()).find(({ id }) => id === reply.headers.get('x-request-id'))?.channel;

  test('skips a channel that refuses and uses another', async () => {
    const first = await respond(gateway, 'alice');
    expect(await channelOf(first)).toBe('strict');
    const next = { previous_response_id: idOf(first) };
    expect(await channelOf(await respond(gateway, 'alice', next))).toBe('strict');
    const other = await respond(gateway, 'bob', next);
    expect(await channelOf(other)).toBe('open');
    // A conversation continues where it was given, whatever the priority.
    const more = await respond(gateway, 'bob', { previous_response_id: idOf(other) });
    expect(await channelOf(more)).toBe('open');
  });
});

describe.each(dialects)('two nodes on %s', (dialect) => {
  const runs = !isSkipped(dialect);

  test.runIf(runs)(
    'know the same, with the channel and the credential, also after a restart',
    async () => {
      const upstream = await startOwnUpstream();
      upstream.answer = answerAnything;
      const { url, drop } = await createMigratedDatabase(dialect);
      const folders: string[] = [];
      const start = () => startNode(upstream.url, url, folders);
      let one = await start();
      const two = dialect === 'postgres' ? await start() : null;
      const first = await respond(one, 'alice');
      const credential = upstream.asked.at(-1)?.headers.authorization;
      const next = { previous_response_id: idOf(first) };
      if (two === null) {
        await one.close();
        one = await start();
      }
      // Until then another node takes the id for unknown.
      await expect.poll(() => one.journal.depth, { timeout: 10_000 }).toBe(0);
      const other = two ?? one;
      for (let turn = 0; turn < 4; turn += 1) {
        upstream.clear();
        expect((await respond(other, 'alice2', next)).status).toBe(200);
        expect(upstream.asked.at(-1)?.headers.authorization).toBe(credential);
      }
      expect((await respond(other, 'bob', next)).status).toBe(404);
      await one.close();
      await two?.close();
      await upstream.close();
      await drop();
      for (const folder of folders) rmSync(folder, { recursive: true });
    },
  );
});

test('without the database: ids known to this process pass, any other gets 503', async () => {
  const upstream = await startOwnUpstream();
  upstream.answer = answerAnything;
  const folders: string[] = [];
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  const app = await startNode(upstream.url, `sqlite:${folder}/test.db`, folders);
  // Both keys are known from here on.
  expect((await respond(app, 'bob')).status).toBe(200);
  const previous_response_id = idOf(await respond(app, 'alice'));
  await expect.poll(() => app.journal.depth, { timeout: 10_000 }).toBe(0);
  await app.database.close();
  expect((await respond(app, 'alice', { previous_response_id })).status).toBe(200);
  const refused = await respond(app, 'bob', { previous_response_id });
  expect(refused.status).toBe(503);
  expect(refused.headers.get('retry-after')).not.toBeNull();
  expect((await respond(app, 'bob')).status).toBe(200);
  await app.close().catch(() => {});
  await upstream.close();
  for (const each of [...folders, folder]) rmSync(each, { recursive: true });
});

test('an id is known as soon as the client has it, before its response has ended', async () => {
  const upstream = await startOwnUpstream();
  const held = Promise.withResolvers<void>();
  upstream.answer = ({ body, path }, response) => {
    if (body['stream'] !== true) return answerAnything({ body, path, headers: {} }, response);
    const events = eventsOf(responseBody(body));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(events.slice(0, 2).join(''));
    held.promise.then(
      () => response.end(events.slice(2).join('')),
      () => {},
    );
  };
  const config = `channels:${channelAt(upstream.url, 'main')}${accounts}`;
  const gateway = await startTestGateway({ config });
  const running = await fetch(`${gateway.url}/v1/responses`, {
    method: 'POST',
    headers: {
      authorization: 'Bearer sk-alice-0123456789abcdefghijklmnopqrstuvwxyz',
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model: 'demo-chat', input: 'hello', stream: true }),
  });
  const reader = running.body!.getReader();
  let text = '';
  while (!text.includes('resp_')) text += Buffer.from((await reader.read()).value ?? []).toString();
  const previous_response_id = /resp_\w+/.exec(text)?.[0];
  expect((await respond(gateway, 'bob', { previous_response_id })).status).toBe(404);
  expect((await respond(gateway, 'alice', { previous_response_id })).status).toBe(200);
  held.resolve();
  while (!(await reader.read()).done);
  await gateway.close();
  await upstream.close();
});

async function startNode(upstreamUrl: string, url: string, folders: string[]): Promise<App> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-'));
  folders.push(folder);
  const channels = channelAt(upstreamUrl, 'main').replace(
    'api_key: upstream-key',
    'api_keys: [key-one, key-two, key-three]',
  );
  const text = `
server: { port: 0, drain_timeout: 1s }
secrets: { master_key: ${Buffer.from(Array.from({ length: 32 }, (_, at) => at)).toString('base64')} }
storage: { url: "${url}", data_dir: "${folder}" }
channels:${channels}${accounts}`;
  const config = parseConfig(text, {
    file: 'test.yaml',
    environment: {},
    bundledModels: ['demo-chat'],
  });
  const logger = { info() {}, warn() {}, error() {}, request() {}, droppedLines: 0 };
  return startApp({ config, logger });
}
