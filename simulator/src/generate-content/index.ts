import type { Call, Endpoint, World } from '../http/call.ts';
import { jsonReply, streamReply } from '../http/reply.ts';
import { objectAt } from '../json.ts';
import { imageJson } from '../image-files/show.ts';
import { composeScenario } from '../scenario/compose.ts';
import { sumTokens } from '../scenario/usage.ts';
import { drawCandidates } from './image-candidates.ts';
import { readGenerateContent } from './question.ts';
import { renderDrawing, renderDrawingChunks } from './render-images.ts';
import { renderChunks, renderResponse } from './render.ts';
import { validateCount } from './validate-count.ts';
import { isImageModel } from './validate-images.ts';
import { validateGenerateContent } from './validate.ts';
import { signaturePurpose } from './validate-turns.ts';

/** `POST /v1beta/models/{model}:generateContent` */
export function createGenerate(world: World): Endpoint {
  return (call) => {
    const { scenario, thoughts, drawn } = respond(world, call);
    if (drawn) return imageJson(renderDrawing(drawn));
    return jsonReply(200, renderResponse(scenario, thoughts));
  };
}

/** `…:streamGenerateContent`; without `alt=sse` the stream is one JSON array. */
export function createStreamGenerate(world: World): Endpoint {
  return (call) => {
    const { scenario, thoughts, drawn } = respond(world, call);
    const format = call.query.get('alt') === 'sse' ? 'sse' : 'json-array';
    const chunks = drawn ? renderDrawingChunks(drawn) : renderChunks(scenario, thoughts);
    return streamReply(chunks, {}, format);
  };
}

function respond(world: World, call: Call) {
  const body = validateGenerateContent(call.body, call.model, world.signer);
  const config = objectAt(body, 'generationConfig');
  const question = readGenerateContent(body, call);
  const scenario = composeScenario(question, call.shape, 'implicit');
  const thoughts = {
    include: objectAt(config, 'thinkingConfig')['includeThoughts'] === true,
    sign: (nonce: string) => world.signer.mint(signaturePurpose, nonce, ''),
  };
  if (!isImageModel(call.model)) return { scenario, thoughts, drawn: null };
  const candidates = drawCandidates(call, config, question, scenario, thoughts);
  const isDistorted = call.shape.usage !== undefined;
  return { scenario, thoughts, drawn: { scenario, question, candidates, isDistorted } };
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
