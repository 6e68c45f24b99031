import { describe, expect, it } from 'vitest';
import type { Candidate, Finish } from '#canonical/index.ts';
import { generateContentCodec } from '#protocols/generate-content/index.ts';
import { collectEvents } from '../support/collect-events.ts';
import {
  responseContext,
  chunks,
  decodeResponse,
  decodeStream,
  encodeStream,
  type Json,
  target,
  wireRequest,
} from '../support/generate-content-codec.ts';
import { absence, recordings } from './recordings.ts';

const own = recordings.filter(({ protocol }) => protocol === 'generate-content');
const cases = (chosen: typeof own) => chosen.map((recording) => [recording.id, recording] as const);
const isRefused = /invalid_role/;
const asked = own.filter(({ request }) => request !== null && request['contents'] !== undefined);
const legal = asked.filter(({ request }) => !isRefused.test(JSON.stringify(request)));
const responsesOf = ({ body }: (typeof own)[number]) =>
  (Array.isArray(body) ? body : [body]) as (Json | null | undefined)[];
// One recorder wrapped the response into an object of its own.
const isResponse = (recording: (typeof own)[number]) =>
  recording.status === 200 &&
  responsesOf(recording).every(
    (response) => response?.['candidates'] ?? response?.['promptFeedback'],
  );

describe.skipIf(absence !== null)(
  `recorded generate-content through the codec ${absence ?? ''}`,
  () => {
    it('exist', () => {
      expect([legal.length, own.filter(isResponse).length, own.length]).toEqual([
        expect.toSatisfy((count: number) => count > 80),
        expect.toSatisfy((count: number) => count > 40),
        expect.toSatisfy((count: number) => count > 90),
      ]);
    });

    it.each(cases(legal))('%s: the request keeps its meaning', (_, { request, endpoint }) => {
      const model = /models\/([\w.-]+)/.exec(endpoint)?.[1] ?? 'gemini-2.5-flash';
      const decoded = generateContentCodec.decodeRequest(wireRequest(request, model));
      const { json } = generateContentCodec.encodeRequest(decoded, target(model));
      const again = generateContentCodec.decodeRequest(wireRequest(json, model));
      // Once encoded, nothing changes any more.
      expect(generateContentCodec.encodeRequest(again, target(model)).json).toEqual(json);
      expect(wordsOf(json)).toEqual(wordsOf(request));
    });

    it.each(cases(asked.filter((recording) => !legal.includes(recording))))(
      '%s: refused here too',
      (_, { request, status }) => {
        expect(status).toBe(400);
        expect(() => generateContentCodec.decodeRequest(wireRequest(request))).toThrow(/role/);
      },
    );

    it.each(cases(own.filter(isResponse)))('%s: the response', (_, recording) => {
      const responses = responsesOf(recording);
      const streamed = decodeStream(chunks(...responses));
      const back = collectEvents(decodeStream(encodeStream(streamed)));
      expect(back).toEqual(comparable(collectEvents(streamed)));
      const [only] = responses;
      if (responses.length === 1 && only != null) {
        const whole = decodeResponse(only);
        expect(comparable(collectEvents(streamed))).toEqual(comparable(whole.candidates));
        const json = generateContentCodec.encodeResponse(whole, null, responseContext());
        expect(decodeResponse(json).candidates).toEqual(comparable(whole.candidates));
      }
    });

    it.each(cases(own.filter(({ sse }) => typeof sse === 'string')))(
      '%s: the stream',
      (_, { sse }) => {
        const events = decodeStream(sse ?? '');
        const responses = collectEvents(events);
        expect(responses.length).toBeGreaterThan(0);
        expect(collectEvents(decodeStream(encodeStream(events)))).toEqual(comparable(responses));
      },
    );
  },
);

/** Without what is not written into responses of ours: citations, and that a finish reason was guessed. */
function comparable(candidates: readonly Candidate[]): Candidate[] {
  return candidates.map(({ blocks, finish }) => ({
    finish: withoutGuess(finish),
    blocks: blocks.map((block) => {
      if (block.type !== 'text') return block;
      const { citations: _, ...kept } = block;
      return kept;
    }),
  }));
}

function withoutGuess(finish: Finish): Finish {
  const { isGuess: _, ...kept } = finish;
  return kept;
}

/** Every text and every name, wherever it stands: enough to see that nothing got lost. */
function wordsOf(json: unknown): unknown {
  const words: string[] = [];
  const walk = (value: unknown, key: string): void => {
    if (Array.isArray(value)) for (const item of value) walk(item, key);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, item] of Object.entries(value)) walk(item, name);
    } else if (
      typeof value === 'string' &&
      ['text', 'name', 'data', 'fileUri', 'file_uri'].includes(key)
    ) {
      if (value !== '') words.push(value);
    }
  };
  walk(json, '');
  return words.toSorted();
}
