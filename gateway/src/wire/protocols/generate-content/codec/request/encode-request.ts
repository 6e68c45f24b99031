import { type GenerationRequest, Unconvertible } from '#canonical/index.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import { Losses } from '../../../shared/text/losses.ts';
import { formInWords } from '../../../shared/schema/output-format.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodeConfig } from './encode-config.ts';
import { encodeContents, encodeSystem } from './encode-contents.ts';
import { type EncodeContext, modelTraits } from './model-traits.ts';
import { encodeToolConfig, encodeTools } from './encode-tools.ts';
import { restoreExtensions } from './extensions.ts';
import { resourceName } from '../../fields.ts';

/** @throws Unconvertible */
export function encodeRequest(given: GenerationRequest, target: EncodeTarget): Encoded<JsonRecord> {
  const losses = new Losses('generate-content');
  const context: EncodeContext = {
    losses,
    budget: target.budget,
    model: modelTraits(target.model, target.capabilities),
    callNames: new Map(),
    details: new Set(),
  };
  const request = context.model.formsBesideTools ? given : askForForm(given, losses);
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
  return { json, losses: losses.list() };
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
