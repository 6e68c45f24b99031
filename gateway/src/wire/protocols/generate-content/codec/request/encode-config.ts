import { type GenerationRequest, type OutputFormat, Unconvertible } from '#canonical/index.ts';
import { describedSchema } from '../../../shared/schema/output-format.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import type { EncodeContext } from './model-traits.ts';
import { toDialect } from '../schema/json-schema.ts';
import { mapSchema } from '../schema/map-schema.ts';
import { encodeThinking } from './thinking.ts';

/** The most that the API accepts. */
const stopLimit = 5;

/** Encodes `generationConfig`; null if it would be empty. @throws Unconvertible */
export function encodeConfig(
  request: GenerationRequest,
  context: EncodeContext,
): JsonRecord | null {
  const { losses, model } = context;
  const config: Record<string, unknown> = {};
  const set = (name: string, value: unknown) => {
    if (value !== null) config[name] = value;
  };
  set('maxOutputTokens', request.maxOutputTokens);
  set('temperature', request.temperature);
  set('topP', request.topP);
  set('topK', request.topK);
  set('presencePenalty', request.presencePenalty);
  set('frequencyPenalty', request.frequencyPenalty);
  set('seed', encodeSeed(request.seed, losses));
  set('candidateCount', request.choices > 1 ? request.choices : null);
  set('stopSequences', encodeStop(request.stop));
  if (request.logprobs !== null) {
    // This protocol returns log probabilities without the tokens' bytes.
    losses.approximated('logprobs');
    config['responseLogprobs'] = true;
    if (request.logprobs > 0) config['logprobs'] = request.logprobs;
  }
  Object.assign(config, encodeFormat(request.format, context));
  set('mediaResolution', encodeDetail(context));
  set('thinkingConfig', encodeThinking(request.reasoning, model, losses));
  return Object.keys(config).length > 0 ? config : null;
}

/** A 32-bit integer. No vendor promises more than best effort for a seed. */
function encodeSeed(seed: number | null, losses: Losses): number | null {
  if (seed === null || seed === (seed | 0)) return seed;
  losses.dropped('seed');
  return null;
}

function encodeStop(sequences: readonly string[]): readonly string[] | null {
  const stop = sequences.filter((sequence) => sequence !== '');
  if (stop.length > stopLimit) {
    throw new Unconvertible('stop', `this model takes at most ${stopLimit} stop sequences`);
  }
  return stop.length > 0 ? stop : null;
}

function encodeFormat(
  format: OutputFormat | null,
  { losses, budget, model }: EncodeContext,
): JsonRecord {
  if (format === null || format.type === 'text') return {};
  const responseMimeType = 'application/json';
  if (format.type === 'json') return { responseMimeType };
  const described = describedSchema(format);
  const map = mapSchema(described);
  if (map !== null && model.jsonSchema) return { responseMimeType, responseJsonSchema: map };
  const { schema, approximated, widened } = toDialect(described, budget);
  if (widened && format.strict === true) {
    throw new Unconvertible(
      'response_format',
      'the schema cannot be enforced by this model: please avoid recursion, conditions and patterns of names',
    );
  }
  if (approximated || map !== null) losses.approximated('response_format.schema');
  return { responseMimeType, responseSchema: schema };
}

const resolutions: ReadonlyMap<string, string> = new Map([
  ['low', 'MEDIA_RESOLUTION_LOW'],
  ['high', 'MEDIA_RESOLUTION_HIGH'],
]);

/** The protocol has one setting for all media. If the images differ, or ask for another value, the model decides. */
function encodeDetail({ details, losses }: EncodeContext): string | null {
  const [first, ...others] = details;
  if (first === undefined || (first === 'auto' && others.length === 0)) return null;
  const resolution = others.length === 0 ? resolutions.get(first) : undefined;
  if (resolution === undefined) losses.dropped('image.detail');
  else losses.approximated('image.detail');
  return resolution ?? null;
}
