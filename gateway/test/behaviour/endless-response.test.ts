import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { ask, attemptsOf, rowOf } from './support.ts';
import { answeredText, eachCall, textProtocols, type TextProtocol } from './text-protocols.ts';

/* Answers larger than any: what comes is bounded, in bytes and in memory, and then it is over. */

const mebibyte = 2 ** 20;
/** Data in sockets and buffers between upstream and gateway when the gateway hangs up. */
const onTheWay = 24 * mebibyte;

let gateway: TestGateway;
let upstream: OwnUpstream;

const all = 'protocols: [chat, responses, messages, generate-content]';
const modelsOf = (kind: string): string[] => eachCall.map(({ name }) => `${kind} ${name}`);

beforeAll(async () => {
  upstream = await startOwnUpstream();
  // A model for each case: none of its channels fails often enough to be passed over.
  const alone = modelsOf('alone');
  const spared = modelsOf('spared');
  const own = (model: string) =>
    `  - { name: "own ${model}", priority: 1, provider: simulator, base_url: "${upstream.url}", ${all}, models: ["${model}"] }`;
  gateway = await startTestGateway({
    config: `
channels:
${[...alone, ...spared].map(own).join('\n')}
  - name: spare
    provider: simulator
    base_url: SIMULATOR
    ${all}
    models:
${spared.map((model) => `      - { name: "${model}", upstream: demo-chat }`).join('\n')}
models:
${[...alone, ...spared].map((id) => `  - { id: "${id}", type: chat, price: { input: 1, output: 2 } }`).join('\n')}
`,
  });
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

interface Poured {
  bytes: number;
  /** The gateway hung up. */
  readonly closed: Promise<void>;
}

/** Writes the block again and again, as fast as it is taken, until the gateway hangs up or `most` bytes are written. */
function pour(response: ServerResponse, block: Buffer, most = Number.POSITIVE_INFINITY): Poured {
  const poured = {
    bytes: 0,
    closed: new Promise<void>((resolve) => {
      response.once('close', () => resolve());
    }),
  };
  const write = (error?: Error | null): void => {
    if (error != null || response.destroyed || poured.bytes >= most) return;
    poured.bytes += block.length;
    response.write(block, write);
  };
  write();
  return poured;
}

/** The most that memory grew by meanwhile, in bytes. */
async function growthDuring(act: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => (most = Math.max(most, process.memoryUsage.rss())), 5);
  await act();
  clearInterval(timer);
  return most - before;
}

describe.each(eachCall)('$name', ({ protocol, stream, name }) => {
  const result = stream ? 'not-a-stream' : 'answer-too-large';
  // A body that is not a stream is read only as far as an error body.
  const bound = stream ? mebibyte : 64 * mebibyte;

  test.each(['alone', 'spared'])('an endless plain 200 is given up (%s)', async (kind) => {
    let poured: Poured | null = null;
    upstream.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      poured = pour(response, Buffer.alloc(mebibyte, ' '));
    };
    const model = `${kind} ${name}`;
    const response = await ask(gateway, protocol, stream, model);
    const { bytes, closed } = poured as unknown as Poured;
    await closed;
    expect(bytes).toBeLessThan(bound + onTheWay);
    const failed = { channel: `own ${model}`, class: 'started', status: 200, result };
    const row = await rowOf(gateway, response.id);
    if (kind === 'alone') {
      expect(response.status).toBe(502);
      expect(protocol.errorMessage(JSON.parse(response.text))).toBe('upstream response abnormal');
      expect(row).toMatchObject({ outcome: 'failed', cost: null });
      expect(attemptsOf(row)).toEqual([failed]);
    } else {
      expect(response.status).toBe(200);
      expect(stream ? protocol.terminator.test(response.text) : answeredText(response.text)).toBe(
        true,
      );
      expect(attemptsOf(row)).toEqual([failed, expect.objectContaining({ channel: 'spare' })]);
    }
  });
});

test('a body in pieces of one byte takes no more memory than one in large pieces', async () => {
  // A chunk for each byte.
  const block = Buffer.from('1\r\n \r\n'.repeat(20_000));
  const growth = await growthDuring(async () => {
    upstream.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'application/json', connection: 'close' });
      response.flushHeaders();
      const { socket } = response;
      let left = 150;
      const write = (error?: Error | null): void => {
        if (error != null) return;
        if (left-- > 0) socket?.write(block, write);
        else socket?.end('0\r\n\r\n');
      };
      write();
    };
    const response = await ask(gateway, textProtocols[0]!, false, 'alone chat whole');
    expect(response.status).toBe(502);
    expect((await rowOf(gateway, response.id)).attempts).toMatchObject([{ result: 'unreadable' }]);
  });
  // Three million pieces; as many buffers would be several hundred megabytes.
  expect(growth).toBeLessThan(150 * mebibyte);
});

/** One event before the long line, with content. */
const someContent: Record<TextProtocol['name'], string> = {
  chat: 'data: {"choices":[{"index":0,"delta":{"content":"so"}}]}\n\n',
  responses:
    'data: {"type":"response.created","response":{"id":"r"}}\n\ndata: {"type":"response.output_text.delta","delta":"so"}\n\n',
  messages:
    'data: {"type":"message_start","message":{"id":"m"}}\n\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"so"}}\n\n',
  'generate-content': 'data: {"candidates":[{"index":0,"content":{"parts":[{"text":"so"}]}}]}\n\n',
};

describe.each(textProtocols)('R-15 $name: a line of 65 MiB', (protocol) => {
  test.each([
    ['before any content: 502', false],
    ['after content: an error frame', true],
  ])('%s', async (_what, shown) => {
    let poured: Poured | null = null;
    upstream.answer = (_asked, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      response.write(`${shown ? someContent[protocol.name] : ''}data: `);
      poured = pour(response, Buffer.alloc(mebibyte, 'x'), 65 * mebibyte);
    };
    const model = `alone ${protocol.name} ${shown ? 'streamed' : 'whole'}`;
    const growth = await growthDuring(async () => {
      const response = await ask(gateway, protocol, true, model);
      expect(response.status).toBe(shown ? 200 : 502);
      if (shown) {
        expect(response.text.trimEnd().split('\n\n').at(-1)).toMatch(protocol.errorFrame);
        expect(response.text).not.toMatch(protocol.terminator);
      }
      expect(attemptsOf(await rowOf(gateway, response.id))).toMatchObject([
        { class: shown ? 'shown' : 'started', result: 'event-too-large' },
      ]);
    });
    const { bytes, closed } = poured as unknown as Poured;
    await closed;
    // Eight are allowed.
    expect(bytes).toBeLessThan(8 * mebibyte + onTheWay);
    expect(growth).toBeLessThan(150 * mebibyte);
  });
});

test('no endless response is logged as an error of the gateway', () => {
  expect(gateway.errors).toEqual([]);
});
