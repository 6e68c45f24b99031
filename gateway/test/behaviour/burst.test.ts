import { afterAll, beforeAll, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { askRaw, describeChannels } from './support.ts';
import { textProtocols } from './text-protocols.ts';

const words = Array.from({ length: 50 }, (_, at) => `word ${at}, `);

let upstream: OwnUpstream;
let gateway: TestGateway;

beforeAll(async () => {
  upstream = await startOwnUpstream();
  const usage = { prompt_tokens: 7, completion_tokens: 50, total_tokens: 57 };
  const events = [
    ...words.map((content) => eventOf({ delta: { content } })),
    eventOf({ delta: {}, finish_reason: 'stop' }),
    `data: ${JSON.stringify({ choices: [], usage })}\n\n`,
    'data: [DONE]\n\n',
  ];
  // On the socket itself, because Node would join chunks that are written in one turn.
  upstream.answer = (_request, { socket }) => {
    const head = 'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked';
    const body = events.map((event) => `${event.length.toString(16)}\r\n${event}\r\n`).join('');
    socket?.end(`${head}\r\n\r\n${body}0\r\n\r\n`);
  };
  gateway = await startTestGateway({
    config: describeChannels([
      { name: 'own', at: upstream.url, models: ['demo-chat'], protocols: ['chat'] },
    ]),
  });
});
afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

test.each(textProtocols)(
  '$name: many events in one network read reach the client in a few chunks, complete and in order',
  async (protocol) => {
    const client = await askRaw(gateway, protocol, true, 'demo-chat', ['connection: close']);
    await client.ended;
    const chunks = chunksOf(client.received());
    const text = chunks.join('');
    const told = [...text.matchAll(/"(?:content|text|delta)":"(word \d+, )"/g)].map(
      ([, word]) => word,
    );
    expect(told).toEqual(words);
    expect(text).toMatch(protocol.terminator);
    // The pieces up to the terminator, and those that waited for the journal; the network may split the burst once.
    expect(chunks.length).toBeLessThanOrEqual(4);
  },
);

function eventOf(choice: object): string {
  return `data: ${JSON.stringify({ id: 'c', model: 'demo-chat', choices: [{ index: 0, ...choice }] })}\n\n`;
}

/** The content of each chunk of a whole response as it came over the wire. */
function chunksOf(response: string): string[] {
  const chunks: string[] = [];
  let at = response.indexOf('\r\n\r\n') + 4;
  for (;;) {
    const lineEnd = response.indexOf('\r\n', at);
    const size = Number.parseInt(response.slice(at, lineEnd), 16);
    if (size === 0) return chunks;
    chunks.push(response.slice(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
}
