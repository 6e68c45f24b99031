import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Block, Candidate, GenerationEvent } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import { checkResponsesStream } from '#test/support/responses-grammar.ts';
import {
  responseContext,
  blocks,
  events,
  finishOf,
  request,
} from '#test/support/responses-samples.ts';
import {
  decodeBody,
  decodeStream,
  encodeBody,
  encodeEvents,
} from '#test/support/responses-codec.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { responsesCodec as codec } from '../index.ts';

const failure = new GatewayError('upstream_abnormal');

/** The output in the last event of a finished stream. */
function lastResponse(text: string): JsonRecord {
  return checkResponsesStream(text).at(-1)?.['response'] as JsonRecord;
}

describe('responses: a round trip over the wire keeps canonical values', () => {
  it('requests', () => {
    fc.assert(
      fc.property(request, (original) => {
        const { json, losses } = encodeBody(original);
        expect(losses).toEqual([]);
        const decoded = decodeBody({ ...json, model: original.model });
        const own = decoded.extensions.map(({ name }) => name);
        expect(own.filter((name) => name !== 'store' && name !== 'include')).toEqual([]);
        expect({ ...decoded, extensions: [] }).toEqual({ ...original, extensions: [] });
      }),
      { numRuns: 300 },
    );
  });

  it('complete responses', () => {
    fc.assert(
      fc.property(blocks, fc.boolean(), (list, wasCut) => {
        const candidate = { blocks: list, finish: finishOf(list, wasCut) };
        const json = codec.encodeResponse(
          { candidates: [candidate], extensions: [] },
          null,
          responseContext,
        );
        const decoded = codec.decodeResponse(JSON.parse(JSON.stringify(json)) as JsonRecord);
        expect(withoutIds(decoded.candidates)).toEqual([candidate]);
      }),
    );
  });

  it('the same history gives the same body', () => {
    fc.assert(
      fc.property(request, (original) => {
        const encode = () => JSON.stringify(encodeBody(original));
        expect(encode()).toBe(encode());
      }),
      { numRuns: 30 },
    );
  });
});

describe('responses: every stream that is written', () => {
  it('is legal in whatever order events come', () => {
    fc.assert(
      fc.property(events, (list) => {
        checkResponsesStream(encodeEvents(list));
      }),
      { numRuns: 500 },
    );
  });

  it('is legal if it breaks after any event', () => {
    fc.assert(
      fc.property(events, (list) => {
        const encoder = codec.createStreamEncoder(responseContext);
        const text = list.map((event) => encoder.push(event)).join('');
        const failed = text + encoder.fail(failure);
        const last = checkResponsesStream(failed).at(-1);
        expect(last?.['type']).toBe(text === '' ? 'error' : 'response.failed');
        expect(encoder.end(null)).toBe('');
      }),
    );
  });

  it('ends with the response that is written when it is not streamed', () => {
    fc.assert(
      fc.property(events, fc.boolean(), (list, wasCut) => {
        const [candidate] = collectEvents(list.filter(isCarried));
        const shown = candidate?.blocks ?? [];
        const finish = finishOf(shown, wasCut);
        const whole = codec.encodeResponse(
          { candidates: [{ blocks: shown, finish }], extensions: [] },
          null,
          responseContext,
        );
        const text = encodeEvents([...list.filter(isCarried), { type: 'finish', finish }]);
        expect(lastResponse(text)).toEqual(JSON.parse(JSON.stringify(whole)));
      }),
      { numRuns: 500 },
    );
  });

  it('is decoded to what was encoded', () => {
    fc.assert(
      fc.property(events, fc.boolean(), (list, wasCut) => {
        const written = list.filter(isCarried);
        const [candidate] = collectEvents(written);
        const finish = finishOf(candidate?.blocks ?? [], wasCut);
        const [decoded] = withoutIds(
          decodeStream(encodeEvents([...written, { type: 'finish', finish }])),
        );
        expect(decoded).toEqual({ blocks: (candidate?.blocks ?? []).map(asWritten), finish });
      }),
      { numRuns: 500 },
    );
  });
});

/**
 * Citations and state have a place only in their own kind of block, and separate tests. A delta without text has no
 * meaning.
 */
function isCarried(event: GenerationEvent): boolean {
  if (event.type === 'citation' || event.type === 'state') return false;
  return !('text' in event) || event.text !== '';
}

/** Reasoning has ids in responses. */
function withoutIds(candidates: readonly Candidate[]): Candidate[] {
  return candidates.map(({ blocks: list, finish }) => ({
    finish,
    blocks: list.map((block) => {
      if (block.type !== 'reasoning' || block.state === undefined) return block;
      const { id, ...state } = block.state;
      expect(id).toMatch(/^rs_/);
      return { ...block, state };
    }),
  }));
}

/** Here all reasoning is a summary, and missing arguments become an empty object. */
function asWritten(block: Block): Block {
  if (block.type === 'reasoning') return { ...block, summary: true };
  if (block.type !== 'tool-call' || block.kind === 'custom') return block;
  return { ...block, arguments: block.arguments || '{}' };
}
