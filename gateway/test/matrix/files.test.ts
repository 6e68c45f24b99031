import { describe, expect, test } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { testKey } from '../support/gateway.ts';
import { pdf } from './features/feature.ts';
import { onePerProtocol, protocolNames } from './gateway.ts';
import { shareMediaHost } from './media-host.ts';

const media = shareMediaHost();
const shared = shareGateway({ config: onePerProtocol, mediaFetch: media.mediaFetch });

/** Those whose clients can name a file by its address. */
const clients = {
  responses: (model: string, url: string) => ({
    path: '/v1/responses',
    body: {
      model,
      input: [{ role: 'user', content: [{ type: 'input_file', file_url: url }] }],
    },
  }),
  messages: (model: string, url: string) => ({
    path: '/v1/messages',
    body: {
      model,
      max_tokens: 100,
      messages: [{ role: 'user', content: [{ type: 'document', source: { type: 'url', url } }] }],
    },
  }),
  'generate-content': (model: string, url: string) => ({
    path: `/v1beta/models/${model}:generateContent`,
    body: {
      contents: [
        { role: 'user', parts: [{ fileData: { mimeType: 'application/pdf', fileUri: url } }] },
      ],
    },
  }),
};
type Client = keyof typeof clients;

async function ask(client: Client, upstream: string, url: string) {
  const { path, body } = clients[client](`at-${upstream}`, url);
  const response = await shared.gateway.post(path, body, { authorization: `Bearer ${testKey}` });
  return { status: response.status, text: await response.text() };
}

const pairs = (Object.keys(clients) as Client[]).flatMap((client) =>
  protocolNames.filter((upstream) => upstream !== client).map((upstream) => ({ client, upstream })),
);
const wantsBytes = (upstream: string) => upstream === 'chat' || upstream === 'generate-content';

describe('a PDF by URL', () => {
  test.each(pairs)('of $client for $upstream', async ({ client, upstream }) => {
    const { simulator } = shared.gateway;
    const before = media.fetched();
    const { status } = await ask(client, upstream, media.at('a.pdf'));
    expect(status).toBe(200);
    const body = simulator.requests().at(-1)?.body ?? '';
    if (wantsBytes(upstream)) {
      expect(media.fetched() - before).toBe(1);
      expect(body).toContain(pdf);
      expect(body).toContain('application/pdf');
      expect(body).not.toContain('papers.example');
    } else {
      expect(media.fetched()).toBe(before);
      expect(body).toContain(media.at('a.pdf'));
    }
  });
});

describe('a URL without a file that a chat upstream accepts', () => {
  const atChat = pairs.filter(({ upstream }) => upstream === 'chat');
  const params: Readonly<Record<Client, RegExp>> = {
    responses: /"param":"input"/,
    messages: /\(messages\)/,
    'generate-content': /\((fileData\.fileUri|inlineData)\)/,
  };

  test.each(
    atChat.flatMap(({ client }) =>
      [
        [media.at('a.html'), 'it is not an image, PDF, audio or video'],
        [media.at('nothing'), 'it is not an image, PDF, audio or video'],
        [media.at('a.wav'), "a file of type 'audio/wav' is not available"],
        ['http://papers.example/a.pdf', 'only https addresses are fetched'],
        ['https://127.0.0.1/a.pdf', 'its host has no public address'],
      ].map(([url = '', reason = '']) => ({ client, url, reason })),
    ),
  )('of $client, $url: 400, $reason', async ({ client, url, reason }) => {
    const { simulator } = shared.gateway;
    const sent = simulator.requests().length;
    const { status, text } = await ask(client, 'chat', url);
    expect(status).toBe(400);
    expect(text).toContain(reason);
    expect(text).toMatch(params[client]);
    expect(simulator.requests()).toHaveLength(sent);
  });
});

test('a picture in place of a file is a picture for a chat upstream', async () => {
  const { status } = await ask('responses', 'chat', media.at('a.png'));
  expect(status).toBe(200);
  expect(shared.gateway.simulator.requests().at(-1)?.body).toContain(
    '"image_url":{"url":"data:image/png',
  );
});
