import { ApiError, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { GenerationEvent } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { generateContentCodec } from '#protocols/generate-content/index.ts';
import { responseContext } from '../support/generate-content-codec.ts';

const events: readonly GenerationEvent[] = [
  { type: 'reasoning', text: 'hm' },
  { type: 'state', state: { protocol: 'generate-content', kind: 'envelope', data: 'gw2.a.b' } },
  { type: 'text', text: 'Grüße, ' },
  { type: 'text', text: '世界 🙂' },
  { type: 'call-start', call: 0, id: 'call_1', name: 'get_weather', kind: 'function' },
  { type: 'call-arguments', call: 0, text: '{"city":' },
  { type: 'call-arguments', call: 0, text: '"Rome"}' },
  { type: 'call-end', call: 0 },
  {
    type: 'block',
    block: { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'AAAA' } },
  },
  { type: 'finish', finish: { reason: 'tool' } },
];
const usage = { input: 3, cacheRead: 2, cacheWrite: 0, cacheWrite1h: 0, output: 9, reasoning: 4 };

afterEach(() => vi.unstubAllGlobals());

/** The SDK’s own client, answered with this body. */
function clientOf(body: string, type: string): GoogleGenAI {
  vi.stubGlobal('fetch', () =>
    Promise.resolve(new Response(body, { headers: { 'content-type': type } })),
  );
  return new GoogleGenAI({ apiKey: 'k', httpOptions: { baseUrl: 'http://localhost' } });
}

async function streamed(body: string): Promise<GenerateContentResponse[]> {
  const models = clientOf(body, 'text/event-stream').models;
  const stream = await models.generateContentStream({ model: 'my-model', contents: 'hi' });
  return Array.fromAsync(stream);
}

const encoder = () => generateContentCodec.createStreamEncoder(responseContext());

describe('the official SDK reads what the codec writes', () => {
  it('as a stream', async () => {
    const writer = encoder();
    const chunks = await streamed(
      events.map((event) => writer.push(event)).join('') + writer.end(usage),
    );
    expect(chunks.map(({ text }) => text ?? '').join('')).toBe('Grüße, 世界 🙂');
    expect(chunks.flatMap(({ functionCalls }) => functionCalls ?? [])).toEqual([
      { id: 'call_1', name: 'get_weather', args: { city: 'Rome' } },
    ]);
    const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
    expect(parts.slice(0, 2)).toEqual([
      { text: 'hm', thought: true },
      { text: '', thought: true, thoughtSignature: 'gw2.a.b' },
    ]);
    expect(parts.find(({ inlineData }) => inlineData !== undefined)?.inlineData?.data).toBe('AAAA');
    const last = chunks.at(-1);
    expect(last?.candidates?.[0]?.finishReason).toBe('STOP');
    expect(last?.usageMetadata).toEqual({
      promptTokenCount: 5,
      cachedContentTokenCount: 2,
      candidatesTokenCount: 5,
      thoughtsTokenCount: 4,
      totalTokenCount: 14,
    });
    expect([last?.modelVersion, last?.responseId]).toEqual([
      'my-model',
      '0123456789abcdefghijklmn',
    ]);
    expect(
      chunks.slice(0, -1).every(({ candidates }) => candidates?.[0]?.finishReason === undefined),
    ).toBe(true);
  });

  it('as a stream that breaks', async () => {
    const writer = encoder();
    const body =
      writer.push({ type: 'text', text: 'a' }) + writer.fail(new GatewayError('overloaded'));
    await expect(streamed(body)).rejects.toBeInstanceOf(ApiError);
  });

  it('as a refused prompt', async () => {
    const writer = encoder();
    const body = writer.push({ type: 'finish', finish: { reason: 'blocked' } }) + writer.end(null);
    const [only] = await streamed(body);
    expect(only?.promptFeedback?.blockReason).toBe('OTHER');
    expect(only?.candidates).toBeUndefined();
  });

  it('as a complete response', async () => {
    const json = generateContentCodec.encodeResponse(
      {
        candidates: [
          {
            blocks: [
              { type: 'reasoning', text: 'hm' },
              { type: 'text', text: 'x' },
              { type: 'tool-call', id: null, name: 'f', kind: 'function', arguments: '' },
            ],
            finish: { reason: 'tool' },
          },
        ],
        extensions: [],
      },
      usage,
      responseContext(),
    );
    const models = clientOf(JSON.stringify(json), 'application/json').models;
    const response = await models.generateContent({ model: 'my-model', contents: 'hi' });
    expect(response.text).toBe('x');
    expect(response.functionCalls).toEqual([{ name: 'f', args: {} }]);
  });
});
