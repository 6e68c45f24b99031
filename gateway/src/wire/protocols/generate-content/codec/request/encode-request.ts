import { type GenerationRequest, Unconvertible, type OutputFormat } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import { Losses } from '../../../shared/text/losses.ts';
import { formInWords, describedSchema } from '../../../shared/schema/output-format.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeContents, encodeSystem } from './encode-contents.ts';
import { type EncodeContext, modelTraits } from './model-traits.ts';
import { encodeToolConfig, encodeTools } from './encode-tools.ts';
import { restoreExtensions, resourceName } from '../../fields.ts';
import { toDialect } from '../schema/json-schema.ts';
import { mapSchema } from '../schema/map-schema.ts';
import { encodeThinking } from './thinking.ts';

/** @throws Unconvertible */
export function encodeRequest(
  decodedRequest: GenerationRequest,
  target: EncodeTarget,
): Encoded<JsonRecord> {
  const losses = new Losses('generate-content');
  const context: EncodeContext = {
    losses,
    budget: target.budget,
    model: modelTraits(target.model, target.capabilities),
    callNames: new Map(),
    details: new Set(),
  };
  const request = context.model.formsBesideTools
    ? decodedRequest
    : askForForm(decodedRequest, losses);
  const system = encodeSystem(request.system, context);
  const contents = encodeContents(request.turns, context);
  if (contents.length === 0) {
    throw new Unconvertible('messages', 'the conversation needs a user message');
  }
  const tools = encodeTools(request.tools, request.toolChoice, target, context);
  const members = {
    contents,
    systemInstruction: system,
    tools: tools.length > 0 ? tools : null,
    toolConfig: encodeToolConfig(request.toolChoice, request.tools, wantsTraces(tools, target)),
    generationConfig: encodeConfig(request, context),
  };
  const json: Record<string, unknown> = Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== null),
  );
  const { parallelTools } = request;
  if (parallelTools === false && request.tools.length > 0) losses.dropped('parallel_tool_calls');
  losses.withoutSettings(request, 'verbosity', 'cache_key', 'user');
  restoreExtensions(json, request.extensions, losses);
  return { json, losses: losses.all() };
}

/** Such a request is refused otherwise: functions beside tools that the provider runs. */
function wantsTraces(tools: readonly JsonRecord[], { traits }: EncodeTarget): boolean {
  const functions = tools.filter((tool) => tool['functionDeclarations'] !== undefined);
  return traits.toolTraces && functions.length > 0 && functions.length < tools.length;
}

/** Some models refuse a response format beside functions. They get it in words. */
function askForForm(request: GenerationRequest, losses: Losses): GenerationRequest {
  const { format, system, tools } = request;
  const isFree = format === null || format.type === 'text';
  if (isFree || !tools.some(({ type }) => type === 'function')) return request;
  losses.approximated('response_format');
  const text = formInWords(format, 'When you do not call a function');
  return { ...request, format: null, system: [...system, { type: 'text', text }] };
}

/**
 * The body of `:countTokens` for an encoded request. A bare request may have `contents` only. A wrapped one is counted
 * with its instructions and tools, and must name its model.
 */
export function encodeCount(json: JsonRecord, { model }: EncodeTarget): JsonRecord {
  return { generateContentRequest: { model: resourceName(model), ...json } };
}

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
