import { describe, expect, test } from 'vitest';
import { ask, attemptsOf, describeChannels, rowOf, shareGateway } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

const silence = (protocol: TextProtocol, milliseconds: number, from = 0) =>
  `stall-at=${protocol.eventsBeforeContent + from};stall-ms=${milliseconds}`;

const shared = shareGateway({
  config: describeChannels([
    {
      name: 'main',
      models: ['demo-chat'],
      more: ['timeouts: { stream_idle: 30s }'],
    },
    {
      name: 'patient',
      models: ['patient -> demo-chat'],
      more: ['timeouts: { stream_idle: 30s, keepalive_comment: 30s }'],
    },
    ...textProtocols.flatMap((protocol) => [
      {
        name: `silent-${protocol.name}`,
        at: `/fault(stall-at=${protocol.eventsBeforeContent})`,
        models: [`late-${protocol.name} -> demo-chat`, `never-${protocol.name} -> demo-chat`],
        more: ['priority: 1', 'timeouts: { stream_idle: 2s }'],
      },
      { name: `spare-${protocol.name}`, models: [`late-${protocol.name} -> demo-chat`] },
      {
        name: `broken-${protocol.name}`,
        at: '/fault(status=500)',
        models: [`never-${protocol.name} -> demo-chat`],
      },
    ]),
  ]).concat('\ntimeouts: { keepalive_comment: 1s }\n'),
});

const keepAlives: Record<TextProtocol['name'], { before: RegExp; within: RegExp }> = {
  chat: { before: /^: ?\S*.*\n\n/, within: /\n\n: ?\S*.*\n\n/ },
  responses: { before: /^: ?\S*.*\n\n/, within: /\n\n: ?\S*.*\n\n/ },
  messages: { before: /^: ?\S*.*\n\n/, within: /\n\nevent: ping\ndata: \{"type": ?"ping"\}\n\n/ },
  'generate-content': { before: /^\n/, within: /\n\n\n/ },
};

describe.concurrent.each(textProtocols)('R-11 $name: the head of a stream', (protocol) => {
  test('is held back until there is content', async () => {
    const { response, headMs } = await streamHead(protocol, 'demo-chat', silence(protocol, 800));
    expect(headMs).toBeGreaterThan(750);
    expect(await response.text()).toMatch(protocol.terminator);
  });

  test('R-16 the protocol’s own keep-alive fills a silence between contents', async () => {
    const { response } = await streamHead(protocol, 'demo-chat', silence(protocol, 2_000, 1));
    const text = await response.text();
    expect(text).toMatch(keepAlives[protocol.name].within);
    expect(text).toMatch(protocol.terminator);
  });
});

test('R-16 a JSON array is kept alive between its elements and stays valid JSON', async () => {
  const protocol = textProtocols[3]!;
  const response = await shared.gateway.post(
    protocol.path('demo-chat', true).replace('?alt=sse', ''),
    protocol.body('demo-chat', true),
    { 'x-simulator-fault': silence(protocol, 2_000, 1) },
  );
  const text = await response.text();
  expect(text).toMatch(/\}\n+,\r\n/);
  const elements = JSON.parse(text) as { candidates: { finishReason?: string }[] }[];
  expect(elements.length).toBeGreaterThan(2);
  expect(elements.at(-1)?.candidates[0]?.finishReason).toBe('STOP');
});

/** What takes long takes its time for all protocols at once. */
describe.concurrent('R-11 R-16 the head comes before the content', () => {
  const everyProtocol = (run: (protocol: TextProtocol) => Promise<void>) => () =>
    Promise.all(textProtocols.map(run));

  test(
    'ten seconds after that of the upstream',
    everyProtocol(async (protocol) => {
      const { response, headMs } = await streamHead(protocol, 'patient', silence(protocol, 12_000));
      expect(headMs).toBeGreaterThan(9_900);
      expect(await response.text()).toMatch(protocol.terminator);
    }),
  );

  test(
    'with a keep-alive after the time of silence that is set, although the upstream has sent nothing',
    everyProtocol(async (protocol) => {
      const { response, headMs } = await streamHead(protocol, 'demo-chat', 'delay=2500');
      expect(headMs).toBeGreaterThan(950);
      const text = await response.text();
      expect(text).toMatch(keepAlives[protocol.name].before);
      expect(text).toMatch(protocol.terminator);
    }),
  );

  test(
    'another channel may still answer',
    everyProtocol(async (protocol) => {
      const { response, id } = await streamHead(protocol, `late-${protocol.name}`);
      const text = await response.text();
      expect(text).toMatch(protocol.terminator);
      expect(text).not.toMatch(protocol.errorFrame);
      expect(attemptsOf(await rowOf(shared.gateway, id))).toMatchObject([
        { channel: `silent-${protocol.name}`, class: 'started', result: 'idle-timeout' },
        { channel: `spare-${protocol.name}`, class: 'shown', result: 'completed' },
      ]);
    }),
  );

  test(
    'is followed by an error in the stream if all channels fail',
    everyProtocol(async (protocol) => {
      const { response, id } = await streamHead(protocol, `never-${protocol.name}`);
      const text = await response.text();
      expect(response.status).toBe(200);
      expect(text).not.toMatch(protocol.terminator);
      expect(text).toMatch(/upstream response abnormal/);
      expect(await rowOf(shared.gateway, id)).toMatchObject({ outcome: 'failed', channel: null });
    }),
  );
});

test('a chat response without any content is still a response', async () => {
  const response = await ask(shared.gateway, textProtocols[0]!, true, 'demo-chat', {}, 'refuse');
  expect(response.status).toBe(200);
});

async function streamHead(protocol: TextProtocol, model: string, fault?: string) {
  const startedAt = performance.now();
  const response = await shared.gateway.post(
    protocol.path(model, true),
    protocol.body(model, true),
    fault === undefined ? {} : { 'x-simulator-fault': fault },
  );
  return {
    response,
    id: response.headers.get('x-request-id') ?? '',
    headMs: performance.now() - startedAt,
  };
}
