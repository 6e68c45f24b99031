import type { Call, Endpoint, World } from '../http/call.ts';
import { jsonReply, streamReply } from '../http/reply.ts';
import { objectAt } from '../json.ts';
import { composeScenario } from '../scenario/compose.ts';
import { sumTokens } from '../scenario/usage.ts';
import { readGenerateContent } from './question.ts';
import { renderChunks, renderResponse } from './render.ts';
import { validateCount } from './validate-count.ts';
import { validateGenerateContent } from './validate.ts';
import { signaturePurpose } from './validate-turns.ts';

/** `POST /v1beta/models/{model}:generateContent` */
export function createGenerate(world: World): Endpoint {
  return (call) => {
    const { scenario, thoughts } = answer(world, call);
    return jsonReply(200, renderResponse(scenario, thoughts));
  };
}

/** `…:streamGenerateContent`; without `alt=sse` the stream is one JSON array. */
export function createStreamGenerate(world: World): Endpoint {
  return (call) => {
    const { scenario, thoughts } = answer(world, call);
    const format = call.query.get('alt') === 'sse' ? 'sse' : 'json-array';
    return streamReply(renderChunks(scenario, thoughts), {}, format);
  };
}

function answer(world: World, call: Call) {
  const body = validateGenerateContent(call.body, call.model, world.signer);
  const config = objectAt(objectAt(body, 'generationConfig'), 'thinkingConfig');
  const scenario = composeScenario(readGenerateContent(body, call), call.shape, 'implicit');
  const thoughts = {
    include: config['includeThoughts'] === true,
    sign: (nonce: string) => world.signer.mint(signaturePurpose, nonce, ''),
  };
  return { scenario, thoughts };
}

/** `…:countTokens`, for bare contents or for a whole request. */
export function createTokenCounter(world: World): Endpoint {
  return (call) => {
    const counted = validateCount(call.body, call.model);
    const body = validateGenerateContent(counted, call.model, world.signer);
    const totalTokens = sumTokens(readGenerateContent(body, call).prompt);
    const details = [{ modality: 'TEXT', tokenCount: totalTokens }];
    return jsonReply(200, { totalTokens, promptTokensDetails: details });
  };
}
