import type { ServerResponse } from 'node:http';
import { GoogleGenAI } from '@google/genai';
import { createImage } from 'simulator';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { testKey } from '../support/gateway.ts';
import { startOwnUpstream } from '../support/own-upstream.ts';
import { attemptsOf, openGateway, rowOf, shareGateway, until } from './support.ts';

const own = await startOwnUpstream();
afterAll(() => own.close());

const tokens = 'price: { input: 2, output: 12, output_image: 120 }';
const tiers =
  'price: { image_tiers: [{ name: 1K, max_pixels: 2610000, price: 0.04 }, { name: 4K, max_pixels: 20000000, price: 0.08 }] }';

const channel = (name: string, at: string, upstream: string, provider = 'simulator'): string =>
  `  - { name: ${name}, provider: ${provider}, base_url: "${at}", protocols: [generate-content], api_key: sk-up, models: [{ name: ${name}, upstream: ${upstream} }] }`;
const model = (id: string, price: string): string =>
  `  - { id: ${id}, type: image, capabilities: [edits], ${price} }`;
const people = `
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${testKey} }]
`;

const shared = shareGateway({
  config: `
channels:
${channel('counted', 'SIMULATOR', 'demo-image')}
${channel('tiered', 'SIMULATOR', 'demo-image')}
${channel('own', own.url, 'own', 'gemini')}
${channel('mapped', own.url, 'theirs', 'gemini')}
${channel('own-tiered', own.url, 'own-tiered', 'gemini')}
models:
${['counted', 'own', 'mapped'].map((id) => model(id, tokens)).join('\n')}
${['tiered', 'own-tiered'].map((id) => model(id, tiers)).join('\n')}
${people}
`,
});

const png = (side: number): string =>
  createImage({ type: 'png', width: side, height: side }).toString('base64');

interface Asking {
  readonly prompt?: string;
  readonly fault?: string;
  readonly query?: string;
  readonly config?: object;
}

async function send(of: string, { prompt = 'A cat', fault, query, config }: Asking = {}) {
  const { gateway } = shared;
  gateway.simulator.clear();
  const response = await fetch(
    `${gateway.url}/v1beta/models/${of}:streamGenerateContent${query ?? '?alt=sse'}`,
    {
      method: 'POST',
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        ...(fault !== undefined && { 'x-simulator-fault': fault }),
      },
      body: JSON.stringify({
        contents: [{ role: 'user', parts: [{ text: prompt }] }],
        ...(config !== undefined && { generationConfig: config }),
      }),
    },
  );
  const text = await response.text();
  return {
    status: response.status,
    type: response.headers.get('content-type'),
    text,
    upstream: gateway.simulator.requests(),
    row: await rowOf(gateway, response.headers.get('x-request-id') ?? ''),
  };
}

interface Chunk {
  readonly candidates?: readonly { readonly finishReason?: string }[];
  readonly usageMetadata?: object;
  readonly error?: { readonly code: number };
}

const withText = { responseModalities: ['TEXT', 'IMAGE'] };

const chunksIn = (text: string): Chunk[] =>
  text
    .replaceAll('\r\n', '\n')
    .split('\n\n')
    .filter((part) => part.includes('data: '))
    .map((part) => JSON.parse(part.slice(part.indexOf('data: ') + 6)) as Chunk);

const frame = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`;
const drawn = (data: string, index = 0) => ({
  candidates: [
    { index, content: { role: 'model', parts: [{ inlineData: { mimeType: 'image/png', data } }] } },
  ],
  modelVersion: 'own',
});
const ended = (index = 0, usageMetadata?: object) => ({
  candidates: [{ index, content: {}, finishReason: 'STOP' }],
  ...(usageMetadata !== undefined && { usageMetadata }),
  modelVersion: 'own',
});
const counts = (prompt: number, candidates: number) => ({
  promptTokenCount: prompt,
  candidatesTokenCount: candidates,
  candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: candidates }],
});

function streaming(response: ServerResponse): ServerResponse {
  return response.writeHead(200, { 'content-type': 'text/event-stream' });
}

beforeEach(() => own.clear());

describe('a native stream with pictures', () => {
  test('comes in the events of its upstream, and is charged by the last usage', async () => {
    const { status, type, text, upstream, row } = await send('counted', {
      config: { candidateCount: 2 },
    });
    expect([status, type]).toEqual([200, expect.stringMatching(/^text\/event-stream/)]);
    expect(upstream.map(({ path }) => path)).toEqual([
      '/v1beta/models/demo-image:streamGenerateContent?alt=sse',
    ]);
    const chunks = chunksIn(text);
    expect(chunks.length).toBeGreaterThan(3);
    expect(chunks.at(-1)?.usageMetadata).toBeDefined();
    expect(row).toMatchObject({ outcome: 'completed', units: { images: 2 }, losses: [] });
    const images = row.units?.output_image_tokens ?? 0;
    const { input, output } = row.tokens;
    expect(images).toBe(2240);
    expect(Number(row.cost)).toBeCloseTo(
      (2 * input + 12 * (output - images) + 120 * images) / 1e6,
      9,
    );
    expect(row.ttft_ms).not.toBeNull();
  });

  test('has the bytes of its upstream', async () => {
    const body = [
      frame({ candidates: [{ content: { parts: [{ text: 'draft', thought: true }] } }] }),
      'data: {"candidates" : [ {"content":{"parts":[{"inlineData":{"mimeType":"image/png","data":"' +
        `${png(64)}"}}]}}], "x": 1.0}\r\n\r\n`,
      'event: odd\ndata: {"candidates":[{"finishReason":"STOP"}],\ndata: "usageMetadata":{"promptTokenCount":3,"candidatesTokenCount":5}}\n\n',
    ].join('');
    own.answer = (_, response) => void streaming(response).end(body);
    const { text, row } = await send('own');
    expect(text).toBe(body);
    expect(own.asked[0]?.path).toBe('/v1beta/models/own:streamGenerateContent?alt=sse');
    expect(row).toMatchObject({ units: { images: 1 }, tokens: { input: 3, output: 5 } });
  });

  test('has the client’s name of the model, and nothing else is changed', async () => {
    const body = frame(drawn(png(64))) + frame(ended(0, counts(3, 5)));
    own.answer = (_, response) => void streaming(response).end(body);
    const { text } = await send('mapped');
    expect(text).toBe(body.replaceAll('"modelVersion":"own"', '"modelVersion":"mapped"'));
  });

  test('is an array for who does not ask for events', async () => {
    const { type, text } = await send('counted', { query: '' });
    expect(type).toMatch(/^application\/json/);
    const chunks = JSON.parse(text) as Chunk[];
    expect(chunks.length).toBeGreaterThan(1);
    expect(chunks.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
  });

  test('is the same from an upstream that responds at once', async () => {
    own.answer = (_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const whole = {
        ...drawn(png(64)),
        candidates: [{ ...drawn(png(64)).candidates[0], finishReason: 'STOP' }],
        usageMetadata: counts(3, 5),
      };
      response.end(JSON.stringify(whole, null, 1));
    };
    const { status, text, row } = await send('own');
    expect(status).toBe(200);
    expect(chunksIn(text)).toMatchObject([{ candidates: [{ finishReason: 'STOP' }] }]);
    expect(row).toMatchObject({ outcome: 'completed', units: { images: 1 } });
  });

  test('shows its end when the row is durable, and what comes before it at once', async () => {
    let end: () => void = () => {};
    own.answer = (_, response) => {
      streaming(response).write(frame(drawn(png(64))) + frame(ended()));
      response.write(frame(drawn(png(64), 1)));
      end = () => {
        response.write(frame(ended(1, counts(3, 10))));
        setTimeout(() => response.end(), 300);
      };
    };
    const { gateway } = shared;
    const response = await gateway.post('/v1beta/models/own:streamGenerateContent?alt=sse', {
      contents: [{ parts: [{ text: 'A cat' }] }],
      generationConfig: { candidateCount: 2 },
    });
    const reader = response.body!.getReader();
    let text = '';
    const readTo = async (isEnough: () => boolean): Promise<void> => {
      while (!isEnough()) {
        const { done, value } = await reader.read();
        if (done) return;
        text += Buffer.from(value).toString();
      }
    };
    await readTo(() => chunksIn(text).length === 3);
    end();
    const id = response.headers.get('x-request-id') ?? '';
    let shown = 0;
    await readTo(() => {
      shown = chunksIn(text).length;
      return shown === 4;
    });
    expect(shown).toBe(4);
    expect(await gateway.usage()).toContainEqual(expect.objectContaining({ id }));
  });

  test('of events of megabytes arrives', async () => {
    for (const query of ['?alt=sse', '']) {
      const { text, row } = await send('counted', { fault: 'picture-bytes=20000000', query });
      expect(text.length).toBeGreaterThan(25_000_000);
      expect(row).toMatchObject({ outcome: 'completed', units: { images: 1 } });
    }
  });

  test('of words alone is passed on, and its tokens are charged', async () => {
    const { status, text, row } = await send('counted', { prompt: 'no picture' });
    expect(status).toBe(200);
    expect(text).toContain('words only');
    const { input, output } = row.tokens;
    expect(Number(row.cost)).toBeCloseTo((2 * input + 12 * output) / 1e6, 9);
    expect(row).toMatchObject({ outcome: 'completed' });
  });

  test('of a blocked prompt is passed on', async () => {
    const { status, text } = await send('counted', { prompt: 'refuse prompt' });
    expect(status).toBe(200);
    expect(chunksIn(text)).toMatchObject([{ promptFeedback: {} }]);
  });

  test.each(['slice=random', 'slice=7', 'crlf', 'comments', 'no-final-blank', 'gap=20'])(
    'is the same from an upstream with %s',
    async (fault) => {
      const plain = await send('tiered');
      const { text, row } = await send('tiered', { fault });
      expect(chunksIn(text)).toEqual(chunksIn(plain.text));
      expect(row).toMatchObject({ outcome: 'completed', cost: '0.04' });
    },
  );
});

describe('a native stream that breaks', () => {
  // Its first event is a text, the second one the picture.
  test.each(['cut-at=1', 'close-at=1', 'error-at=1', 'cut-at=2', 'close-at=2', 'error-at=2'])(
    'after something was shown ends with an error, and is not charged: %s',
    async (fault) => {
      for (const query of ['?alt=sse', '']) {
        const { status, text, row } = await send('counted', { fault, query, config: withText });
        expect(status).toBe(200);
        const chunks = query === '' ? (JSON.parse(text) as Chunk[]) : chunksIn(text);
        expect(chunks.at(-1)?.error?.code).toBeTypeOf('number');
        expect(text).not.toContain('CANARY');
        expect(row).toMatchObject({ outcome: 'failed', status: 200, cost: null });
        expect(attemptsOf(row)).toHaveLength(1);
      }
    },
  );

  test.each(['cut-at=0', 'close-at=0', 'error-at=0', 'status=500', 'garbage'])(
    'before anything is shown is 502, and nothing is asked twice: %s',
    async (fault) => {
      const { status, row } = await send('counted', { fault });
      expect(status).toBe(502);
      expect(attemptsOf(row)).toHaveLength(1);
      expect(row.cost).toBeNull();
    },
  );

  test('without usage is not charged, and has no end', async () => {
    const { text, row } = await send('counted', { fault: 'usage=missing' });
    const chunks = chunksIn(text);
    expect(chunks.at(-1)).toHaveProperty('error');
    expect(text).not.toContain('finishReason');
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(row)).toMatchObject([{ result: 'usage-missing' }]);
  });

  test('at a picture above the largest tier shows nothing of the picture', async () => {
    own.answer = (_, response) =>
      void streaming(response).end(frame(drawn(png(5000))) + frame(ended(0, counts(3, 5))));
    const { status, row } = await send('own-tiered');
    expect(status).toBe(502);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
  });

  test('by an event above 64 MiB is 502', async () => {
    own.answer = (_, response) => {
      streaming(response).write(
        'data: {"candidates":[{"content":{"parts":[{"inlineData":{"data":"',
      );
      const piece = Buffer.alloc(1024 * 1024, 'A');
      response.on('close', () => response.destroy());
      const more = (): void => {
        while (!response.destroyed && response.write(piece));
      };
      response.on('drain', more);
      more();
    };
    const { status, row } = await send('own');
    expect(status).toBe(502);
    expect(attemptsOf(row)).toMatchObject([{ result: 'event-too-large' }]);
  });
});

test('A client that leaves a native stream pays for what is made', async () => {
  const gateway = await openGateway({
    config: `
channels:
${channel('slow', 'SIMULATOR/fault(gap=800)', 'demo-image')}
models:
${model('slow', tiers)}
${people}
`,
  });
  for (const isBefore of [true, false]) {
    const leaving = new AbortController();
    const asked = fetch(`${gateway.url}/v1beta/models/slow:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        contents: [{ parts: [{ text: 'A cat' }] }],
        generationConfig: withText,
      }),
      signal: leaving.signal,
    });
    if (isBefore) await until(() => gateway.simulator.requests().length === 1, 'asked');
    else await (await asked).body?.getReader().read();
    leaving.abort();
    await asked.catch(() => {});
    await until(
      async () => (await gateway.usage()).length === (isBefore ? 1 : 2),
      'the pictures are charged',
      15_000,
    );
  }
  for (const row of await gateway.usage()) {
    expect(row).toMatchObject({ outcome: 'client-left', cost: '0.04', units: { images: 1 } });
  }
});

test('Google’s SDK reads a native stream', async () => {
  const client = new GoogleGenAI({
    apiKey: testKey,
    httpOptions: { baseUrl: shared.gateway.url },
  });
  const parts: string[] = [];
  const stream = await client.models.generateContentStream({
    model: 'counted',
    contents: 'A cat',
  });
  for await (const chunk of stream) {
    for (const part of chunk.candidates?.[0]?.content?.parts ?? []) {
      parts.push(part.inlineData?.mimeType ?? 'text');
    }
  }
  expect(parts).toContain('image/png');
});
