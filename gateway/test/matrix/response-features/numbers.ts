import { count, inArea, mark, type Members } from './feature.ts';

const chat = (usage: Members) => ({
  response: { usage: { prompt_tokens: count + 5, completion_tokens: count + 9, ...usage } },
});
const responses = (usage: Members) => ({
  response: { usage: { input_tokens: count + 5, output_tokens: count + 9, ...usage } },
});
const messages = (usage: Members) => ({
  response: { usage: { input_tokens: 5, output_tokens: count + 9, ...usage } },
});
const content = (usage: Members) => ({
  response: {
    usageMetadata: { promptTokenCount: count + 5, candidatesTokenCount: 9, ...usage },
  },
});

const noParts = 'only the sum is reported, which includes it';
const itsOwn = 'belongs to one vendor';

export const numbers = [
  ...inArea('Usage', [
    {
      name: 'input',
      shown: `${count}`,
      of: {
        chat: chat({ prompt_tokens: count }),
        responses: responses({ input_tokens: count }),
        messages: messages({ input_tokens: count }),
        'generate-content': content({ promptTokenCount: count }),
      },
    },
    {
      name: 'input from a cache',
      shown: `${count}`,
      of: {
        chat: chat({ prompt_tokens_details: { cached_tokens: count } }),
        responses: responses({ input_tokens_details: { cached_tokens: count } }),
        messages: messages({ cache_read_input_tokens: count }),
        'generate-content': content({ cachedContentTokenCount: count }),
      },
    },
    {
      name: 'input written to a cache',
      shown: new RegExp(`"(cache_write_tokens|cache_creation_input_tokens)":${count}`),
      why: `generateContent has none: ${noParts}`,
      harmless: true,
      of: {
        chat: chat({ prompt_tokens_details: { cache_write_tokens: count } }),
        responses: responses({ input_tokens_details: { cache_write_tokens: count } }),
        messages: messages({ cache_creation_input_tokens: count }),
      },
    },
    {
      name: 'cache written for an hour',
      shown: /1h/,
      why: `only messages reports the time; ${noParts}`,
      harmless: true,
      of: {
        messages: messages({
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: count },
        }),
      },
    },
    {
      name: 'output',
      shown: `${count}`,
      of: {
        chat: chat({ completion_tokens: count }),
        responses: responses({ output_tokens: count }),
        messages: messages({ output_tokens: count }),
        'generate-content': content({ candidatesTokenCount: count }),
      },
    },
    {
      name: 'reasoning, as part of the output',
      shown: `${count}`,
      of: {
        chat: chat({ completion_tokens_details: { reasoning_tokens: count } }),
        responses: responses({ output_tokens_details: { reasoning_tokens: count } }),
        messages: messages({ output_tokens_details: { thinking_tokens: count } }),
        'generate-content': content({ thoughtsTokenCount: count }),
      },
    },
    {
      name: 'input of a vendor’s tool',
      shown: `${count + 5}`,
      of: {
        'generate-content': content({ promptTokenCount: 5, toolUsePromptTokenCount: count }),
      },
    },
    {
      name: 'tokens of audio and pictures',
      shown: `${count}`,
      why: `only chat and generateContent have a place for them; ${noParts}`,
      harmless: true,
      of: {
        chat: chat({ completion_tokens_details: { audio_tokens: count } }),
        'generate-content': content({
          promptTokensDetails: [{ modality: 'IMAGE', tokenCount: count }],
        }),
      },
    },
    {
      name: 'tokens of predictions',
      shown: `${count}`,
      why: noParts,
      harmless: true,
      of: {
        chat: chat({ completion_tokens_details: { accepted_prediction_tokens: count } }),
      },
    },
    {
      name: 'number of a vendor’s tool runs',
      shown: `${count}`,
      why: itsOwn,
      harmless: true,
      of: { messages: messages({ server_tool_use: { web_search_requests: count } }) },
    },
  ]),
  ...inArea('About the response', [
    {
      name: 'the id of the response',
      why: 'the gateway makes its own',
      harmless: true,
      of: {
        chat: { response: { id: `chatcmpl-${mark}` } },
        responses: { response: { id: `resp_${mark}` } },
        messages: { response: { id: `msg_${mark}` } },
        'generate-content': { response: { responseId: mark } },
      },
    },
    {
      name: 'the model',
      why: 'the client gets the name that it asked for',
      harmless: true,
      of: {
        chat: { response: { model: mark } },
        responses: { response: { model: mark } },
        messages: { response: { model: mark } },
        'generate-content': { response: { modelVersion: mark } },
      },
    },
    {
      name: 'the service tier',
      why: 'tiers belong to one vendor',
      harmless: true,
      of: {
        chat: { response: { service_tier: mark } },
        responses: { response: { service_tier: mark } },
        messages: messages({ service_tier: mark }),
        'generate-content': content({ trafficType: mark }),
      },
    },
    {
      name: 'fingerprints, ratings, averages',
      why: itsOwn,
      harmless: true,
      of: {
        chat: { response: { system_fingerprint: mark } },
        'generate-content': {
          candidate: { safetyRatings: [{ category: mark, probability: 'LOW' }], avgLogprobs: -1 },
        },
      },
    },
    {
      name: 'container, context edits',
      why: itsOwn,
      harmless: true,
      of: {
        messages: {
          response: {
            container: { id: mark, expires_at: '' },
            context_management: { applied_edits: [{ type: mark }] },
          },
        },
      },
    },
    {
      name: 'an unknown member',
      why: 'unknown to every other protocol',
      harmless: true,
      of: {
        chat: { response: { x_unknown: mark } },
        responses: { response: { x_unknown: mark } },
        messages: { response: { x_unknown: mark } },
        'generate-content': { response: { xUnknown: mark } },
      },
    },
  ]),
];
