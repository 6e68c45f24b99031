import { isDeepStrictEqual } from 'node:util';
import { embeddings } from '#protocols/index.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isClientError, isUpstreamError } from './refusals.ts';

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));

const requests = [
  'hello',
  ['a', 'ü'],
  [1, 2, 3],
  [[1, 2], [3]],
  ['a', [1], { image: 'x' }, []],
].map((input) => json({ model: 'm', input, encoding_format: 'float', user: 'u' }));

/** Longer than a list that is walked byte by byte. */
const vector = Array.from({ length: 20 }, (_, index) => index / 7 - 1);
const usage = { prompt_tokens: 5, total_tokens: 5 };
const responses = [
  { object: 'list', data: [{ index: 0, embedding: vector }], model: 'up', usage },
  {
    data: [{ embedding: 'AACAPw==' }, { embedding: [[vector], null] }],
    usage: { total_tokens: 3 },
  },
  { error: null, data: [], model: 'up' },
  { error: { code: 'rate_limit_exceeded' } },
].map(json);

function patch(input: Buffer): void {
  const read = (body: Buffer) => embeddings.readRequest(embeddings.openRequest(body));
  const request = read(input);
  const { extent, inputBytes } = request;
  holds(extent.items >= 1, 'there is something to embed');
  // Each number of a list has a digit and a comma or a bracket.
  holds((extent.tokens ?? 0) * 2 <= inputBytes, 'no more tokens than bytes');
  const again = read(embeddings.patchRequest(request, 'up'));
  holds(again.model === 'up', 'the upstream’s model is named');
  holds(isDeepStrictEqual(again.extent, extent), 'the input stays what it is');
}

function readResponse(input: Buffer): void {
  const names = { clientModel: 'm', upstreamModel: 'up' };
  const { body } = embeddings.readResponse(input, names);
  const given = objectOf(input);
  if (given === undefined) return;
  const told = objectOf(body);
  holds(isDeepStrictEqual(told?.['data'], given['data']), 'vectors stay what they are');
  if (typeof given['model'] === 'string')
    holds(told?.['model'] === 'm', 'the client’s model is named');
}

/** Undefined when it is not JSON: numbers among the vectors are not checked. */
function objectOf(text: Buffer): Record<string, unknown> | undefined {
  try {
    return JSON.parse(String(text)) as Record<string, unknown>;
  } catch {
    return undefined;
  }
}

export const embeddingsTargets: readonly FuzzTarget[] = [
  {
    name: 'request of embeddings',
    isJson: true,
    samples: requests,
    run: patch,
    isRefusal: isClientError,
  },
  {
    name: 'response of embeddings',
    isJson: true,
    samples: responses,
    run: readResponse,
    isRefusal: isUpstreamError,
  },
];
