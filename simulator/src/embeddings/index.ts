import type { Endpoint } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { requestIdHeader } from '../openai/protocol.ts';
import { countTokens } from '../scenario/question.ts';
import { distortUsage } from '../scenario/usage.ts';
import { validateEmbeddings, type Input } from './validate.ts';
import { encodeBase64, vectorOf } from './vector.ts';

/** `POST /v1/embeddings` */
export const createEmbeddings: Endpoint = (call) => {
  const { inputs, encoding, dimensions } = validateEmbeddings(call.body, call.model);
  const data = inputs.map((input, index) => {
    const vector = vectorOf(input, dimensions);
    const embedding = encoding === 'base64' ? encodeBase64(vector) : [...vector];
    return { object: 'embedding', index, embedding };
  });
  const tokens = inputs.reduce((sum, input) => sum + tokensIn(input), 0);
  const usage = distortUsage({ ...noUsage, freshInput: tokens }, call.shape.usage);
  return jsonReply(
    200,
    {
      object: 'list',
      data,
      model: call.model,
      ...(usage && {
        usage: { prompt_tokens: usage.freshInput, total_tokens: usage.freshInput },
      }),
    },
    requestIdHeader,
  );
};

const noUsage = {
  freshInput: 0,
  cacheRead: 0,
  cacheWrite5m: 0,
  cacheWrite1h: 0,
  visibleOutput: 0,
  reasoning: 0,
};

/** Texts are counted as everywhere in the simulator. A list of tokens counts by its length. */
function tokensIn(input: Input): number {
  return typeof input === 'string' ? countTokens(input) : input.length;
}
