import type { Call, Endpoint } from '../http/call.ts';
import { jsonReply } from '../http/reply.ts';
import { checkModel } from '../generate-content/validate.ts';
import { checkModelExists } from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';

const models = [
  { id: 'demo-chat', name: 'Demo Chat', thinking: false },
  { id: 'demo-reasoning', name: 'Demo Reasoning', thinking: true },
] as const;

const imageModel = { id: 'demo-image', name: 'Demo Image', thinking: false } as const;

/** Only clients of the OpenAI style API have an address for them. */
const otherModels = [
  { id: 'demo-embedding', name: 'Demo Embedding', thinking: false },
  imageModel,
  { id: 'demo-layers', name: 'Demo Layers', thinking: false },
  { id: 'demo-video-1', name: 'Demo Video 1', thinking: false },
  { id: 'demo-video-2', name: 'Demo Video 2', thinking: false },
] as const;

type Model = { readonly id: string; readonly name: string; readonly thinking: boolean };

/** `GET /v1/models` and `/v1/models/{id}`: two vendors share the path, the version header decides. */
export const listModels: Endpoint = (call) => {
  if (call.headers['anthropic-version'] === undefined) {
    if (call.model !== '') return jsonReply(200, openaiModel(find(call)));
    return jsonReply(200, { object: 'list', data: [...models, ...otherModels].map(openaiModel) });
  }
  if (call.model !== '') return jsonReply(200, anthropicModel(find(call)));
  return jsonReply(200, {
    data: models.map(anthropicModel),
    has_more: false,
    first_id: models[0].id,
    last_id: models[models.length - 1]?.id,
  });
};

/** The same for generate-content, under `/v1beta` or `/v1`. */
export const listGoogleModels: Endpoint = (call) => {
  if (call.model === '')
    return jsonReply(200, { models: [...models, imageModel].map(googleModel) });
  checkModel(call.model);
  return jsonReply(200, googleModel(find(call)));
};

/** Every model exists, listed or not, unless its name marks it as missing. */
function find(call: Call): Model {
  const { model } = call;
  if (call.headers['anthropic-version'] === undefined) checkModelExists(model);
  else if (model.startsWith('missing-')) throw new Rejection(404, `model: ${model}`);
  const listed = models.find((entry) => entry.id === model);
  return listed ?? { id: model, name: model, thinking: model.includes('reasoning') };
}

function openaiModel({ id }: Model) {
  return { id, object: 'model', created: 1_790_000_000, owned_by: 'sluice-simulator' };
}

function anthropicModel({ id, name }: Model) {
  return {
    type: 'model',
    id,
    display_name: name,
    created_at: '2026-09-21T14:13:20Z',
    max_input_tokens: 200_000,
    max_tokens: 64_000,
  };
}

function googleModel({ id, name, thinking }: Model) {
  return {
    name: `models/${id}`,
    baseModelId: id,
    version: '001',
    displayName: name,
    description: 'Answers with a fixed sentence; no model is asked.',
    inputTokenLimit: 1_048_576,
    outputTokenLimit: 65_536,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
    temperature: 1,
    maxTemperature: 2,
    topP: 0.95,
    topK: 64,
    thinking,
  };
}
