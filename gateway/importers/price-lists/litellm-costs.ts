import { tokenPartNames, type TokenPart } from '#canonical/index.ts';
import type { ExactMapping } from './exact-json.ts';
import type { ListedParts } from './listed-model.ts';

/** Costs are per token. */
export const perTokenToMillion = 6;

/** How LiteLLM names the cost of each part, in its list and in configurations. The first that is set counts. */
export const litellmCosts: Readonly<Record<TokenPart, readonly string[]>> = {
  input: ['input_cost_per_token'],
  cacheRead: ['cache_read_input_token_cost', 'input_cost_per_token_cache_hit'],
  cacheWrite: ['cache_creation_input_token_cost'],
  cacheWrite1h: ['cache_creation_input_token_cost_above_1hr'],
  output: ['output_cost_per_token'],
  inputImage: ['input_cost_per_image_token'],
  outputImage: ['output_cost_per_image_token'],
  inputAudio: ['input_cost_per_audio_token'],
  cacheReadAudio: [
    'cache_read_input_audio_token_cost',
    'cache_read_input_token_cost_per_audio_token',
  ],
  outputAudio: ['output_cost_per_audio_token'],
  cacheReadImage: ['cache_read_input_image_token_cost'],
};

/** @param suffix of the names: `_above_200k_tokens`, or none */
export function litellmParts(entry: ExactMapping, suffix = ''): ListedParts {
  return Object.fromEntries(
    tokenPartNames.map((part) => [
      part,
      litellmCosts[part].map((name) => entry[name + suffix]).find((cost) => !isAbsent(cost)),
    ]),
  );
}

const isAbsent = (cost: unknown): boolean => cost === undefined || cost === null;
