import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';
import { attemptsOf, rowOf, shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';

const citation = { type: 'url_citation', url_citation: { url: 'https://e.com', title: 't' } };
const chatResponse = {
  id: 'c',
  object: 'chat.completion',
  choices: [
    {
      index: 0,
      finish_reason: 'stop',
      message: { role: 'assistant', content: 'so', annotations: [citation] },
    },
  ],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const messagesResponse = {
  id: 'm',
  type: 'message',
  role: 'assistant',
  content: [
    { type: 'thinking', thinking: 'hm', signature: 'ErUB' },
    { type: 'text', text: 'so' },
  ],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
};

/** Of the next chat request. */
let chatStatus = 200;

const upstream = createServer((request, response) => {
  request.resume();
  request.on('end', () => {
    const isChat = request.url?.endsWith('/chat/completions') === true;
    const status = isChat ? chatStatus : 200;
    chatStatus = 200;
    response.writeHead(status, { 'content-type': 'application/json' });
    const body = isChat ? chatResponse : messagesResponse;
    response.end(JSON.stringify(status === 200 ? body : { error: { message: 'busy' } }));
  });
});
await new Promise<void>((done) => upstream.listen(0, '127.0.0.1', done));
afterAll(() => void upstream.close());

const { port } = upstream.address() as AddressInfo;
const channel = (name: string, protocol: string, model: string) => ({
  name,
  provider: 'simulator',
  base_url: `http://127.0.0.1:${port}`,
  protocols: [protocol],
  models: [{ name: model, upstream: 'up' }],
});
const channels = [
  channel('cites', 'chat', 'cited'),
  channel('native', 'chat', 'mixed'),
  channel('converted', 'messages', 'mixed'),
];
const models = ['cited', 'mixed'].map((id) => ({
  id,
  type: 'chat',
  price: { input: 1, output: 2 },
}));

const shared = shareGateway({
  config: `channels: ${JSON.stringify(channels)}\nmodels: ${JSON.stringify(models)}`,
});

async function post(path: string, body: object) {
  const response = await shared.gateway.post(path, body, { authorization: `Bearer ${testKey}` });
  const row = await rowOf(shared.gateway, response.headers.get('x-request-id') ?? '');
  return { response, row, json: (await response.json()) as Record<string, unknown> };
}

test('losses of a response are in the row, not in a header', async () => {
  const messages = [{ role: 'user', content: 'hello' }];
  const asked = { model: 'cited', max_tokens: 10, messages };
  const { response, row } = await post('/v1/messages', asked);
  expect(response.status).toBe(200);
  expect(row.losses).toEqual(['dropped:answer.citations']);
  expect(response.headers.get('x-sluice-conversion')).toBeNull();
});

test('a conversation returns from a converted channel unless its reasoning is there', async () => {
  const ask = (...history: object[]) => ({
    model: 'mixed',
    prompt_cache_key: 'session-1',
    messages: [{ role: 'user', content: 'hello' }, ...history],
  });
  const channelOf = ({ row }: Awaited<ReturnType<typeof post>>) => row.channel;
  expect(channelOf(await post('/v1/chat/completions', ask()))).toBe('native');

  chatStatus = 500;
  const moved = await post('/v1/chat/completions', ask());
  expect(attemptsOf(moved.row).map(({ channel: name }) => name)).toEqual(['native', 'converted']);
  const [choice] = moved.json['choices'] as { message: object }[];
  expect(JSON.stringify(choice)).toContain('gw2.');

  const next = { role: 'user', content: 'and?' };
  const told = await post('/v1/chat/completions', ask(choice?.message ?? {}, next));
  expect(channelOf(told)).toBe('converted');
  expect(channelOf(await post('/v1/chat/completions', ask()))).toBe('native');
});

test('a request is searched for sealed reasoning once, however many channels are tried', async () => {
  const search = vi.spyOn(Buffer.prototype, 'indexOf');
  onTestFinished(() => search.mockRestore());
  await post('/v1/chat/completions', {
    model: 'mixed',
    messages: [{ role: 'user', content: 'the only one that is searched' }],
  });
  const searched = search.mock.contexts.filter((body, at) => {
    const [needle] = search.mock.calls[at] ?? [];
    return needle === '"gw' && body.toString().includes('the only one');
  });
  expect(searched).toHaveLength(1);
});
