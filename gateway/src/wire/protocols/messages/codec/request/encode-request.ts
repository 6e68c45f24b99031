import { type GenerationRequest, type OutputFormat, Unconvertible } from '#canonical/index.ts';
import { describedSchema, formInWords } from '../../../shared/schema/output-format.ts';
import type { Encoded, EncodeTarget } from '../../../codec.ts';
import { Losses } from '../../../shared/text/losses.ts';
import { isRecord, type JsonRecord, pick } from '../../../shared/values.ts';
import { hasCacheMarkers, limitCacheMarkers, isLifetime, placeCacheMarks } from './place-cache.ts';
import { encodeBlock } from './encode-content.ts';
import { encodeReasoning } from './encode-reasoning.ts';
import { encodeTools, StrictRoom } from './encode-tools.ts';
import { encodeTurns, type Message, moveMarker, textBlock } from './encode-turns.ts';
import { applyExtensions } from './extensions.ts';
import { encodeOutputSchema } from '../schema/output-schema.ts';
import { factsOf } from '../../native/repairs/model-facts.ts';
import { refusesPrefill, refusesSampling } from '../../thinking-models.ts';
import type { WireObject } from '../../wire.ts';

/** The limit if neither the client nor the catalogue names one. The protocol requires the member. */
const defaultMaxTokens = 8192;

/** @throws Unconvertible */
export function encodeRequest(
  request: GenerationRequest,
  target: EncodeTarget,
): Encoded<JsonRecord> {
  const losses = new Losses('messages');
  refuse(request);
  losses.withoutSettings(
    request,
    'temperature',
    'top_k',
    'presence_penalty',
    'frequency_penalty',
    'seed',
    'verbosity',
  );
  // Requests that are marked share the caches of their common beginnings.
  if (target.cache === undefined) losses.withoutSettings(request, 'cache_key');
  const maxTokens = boundOutput(request.maxOutputTokens, target.maxOutputTokens, losses);
  const room = new StrictRoom();
  const { budget, capabilities } = target;
  const form = encodeForm(request.format, room, target, losses);
  const hosts = capabilities.has('hosted_tools');
  const { tools, choice, forced } = encodeTools(request, { losses, budget, room, hosts });
  const system = encodeSystem(request, form.words, losses);
  const messages = encodeTurns(
    request.turns,
    losses,
    factsOf(target.model).takesSystemTurns === true,
  );
  const context = { target, maxTokens, forced, brokenLoop: isBrokenLoop(messages) };
  const { thinking, effort } = encodeReasoning(request, context, losses);
  const isThinking = thinking !== null && thinking['type'] !== 'disabled';
  closeConversation(messages, isThinking || refusesPrefill(target.model), losses);

  const body: WireObject = { model: target.model, max_tokens: maxTokens };
  if (request.stream) body['stream'] = true;
  if (system.length > 0) body['system'] = system;
  body['messages'] = messages;
  if (tools.length > 0) body['tools'] = tools;
  if (choice !== null) body['tool_choice'] = choice;
  if (thinking !== null) body['thinking'] = thinking;
  const stop = encodeStop(request.stop, losses);
  if (stop.length > 0) body['stop_sequences'] = stop;
  const { topP } = request;
  if (topP !== null && takesTopP(target, isThinking)) body['top_p'] = topP;
  else if (topP !== null) losses.dropped('top_p');
  const { extensions } = request;
  const offer = target.cache;
  applyExtensions(
    body,
    offer === undefined ? extensions : extensions.filter((each) => !isLifetime(each)),
    losses,
  );
  addTo(body, 'metadata', request.endUser === null ? {} : { user_id: request.endUser });
  addTo(body, 'output_config', {
    ...(effort !== null && { effort }),
    ...(form.schema !== null && { format: { type: 'json_schema', schema: form.schema } }),
  });
  const marked = { tools, system, messages };
  if (offer !== undefined && body['cache_control'] === undefined && !hasCacheMarkers(marked)) {
    placeCacheMarks(marked, request, offer);
  }
  limitCacheMarkers(marked, body['cache_control'] === undefined ? 0 : 1, losses);
  return { json: body, losses: losses.all() };
}

/** Refuses settings whose loss would change the response. */
function refuse({ choices, logprobs }: GenerationRequest): void {
  if (choices > 1) {
    throw new Unconvertible('n', 'this model gives one answer per request: ask for one');
  }
  if (logprobs !== null) {
    throw new Unconvertible('logprobs', 'this model does not report log probabilities');
  }
}

function takesTopP({ model, capabilities }: EncodeTarget, isThinking: boolean): boolean {
  return capabilities.has('sampling') && !isThinking && !refusesSampling(model);
}

/** A client that names no limit expects the model's own. Anything lower is reported. */
function boundOutput(requestedTokens: number | null, limit: number | null, losses: Losses): number {
  const wantedTokens = requestedTokens ?? limit;
  const bounded = Math.min(wantedTokens ?? defaultMaxTokens, limit ?? Number.POSITIVE_INFINITY);
  if (bounded !== wantedTokens) losses.approximated('max_output_tokens');
  return bounded;
}

/** Keeps the client's blocks apart, since they may carry cache markers. */
function encodeSystem(
  request: GenerationRequest,
  form: string | null,
  losses: Losses,
): WireObject[] {
  const attribution = request.extensions.find(
    ({ protocol, name }) => protocol === 'messages' && name === 'system.attribution',
  )?.value;
  const blocks: WireObject[] = isRecord(attribution) ? [{ ...attribution }] : [];
  for (const block of request.system) {
    const wire = encodeBlock(block, losses);
    if (wire !== null) blocks.push(wire);
    else moveMarker(block, blocks.at(-1));
  }
  if (form !== null) blocks.push(textBlock(form));
  return blocks;
}

interface Form {
  readonly schema: JsonRecord | null;
  /** For the instructions. */
  readonly words: string | null;
}

/**
 * The response format. A schema that the model cannot be held to is asked for in words, unless the client wants nothing
 * but answers that follow it.
 * @throws Unconvertible; GatewayError `too_complex`
 */
function encodeForm(
  format: OutputFormat | null,
  room: StrictRoom,
  { budget }: EncodeTarget,
  losses: Losses,
): Form {
  if (format === null || format.type === 'text') return { schema: null, words: null };
  if (format.type === 'schema') {
    const heldSchema = encodeOutputSchema(describedSchema(format), budget);
    const fault = 'schema' in heldSchema ? room.takeFormat(heldSchema.cost) : heldSchema;
    if (fault === null && 'schema' in heldSchema) {
      if (heldSchema.changed) losses.approximated('response_format.schema');
      return { schema: heldSchema.schema, words: null };
    }
    if (fault !== null && format.strict === true) {
      const place = fault.path === '' ? 'it' : `'${fault.path}'`;
      throw new Unconvertible(
        'response_format',
        `the schema cannot be enforced by this model, since ${place} ${fault.reason}: please change it, or leave out strict`,
      );
    }
  }
  losses.approximated('response_format');
  return { schema: null, words: formInWords(format) };
}

function encodeStop(stop: readonly string[], losses: Losses): string[] {
  const sentStops = stop.filter((sequence) => sequence.trim() !== '');
  if (sentStops.length < stop.filter((sequence) => sequence !== '').length) losses.dropped('stop');
  return sentStops;
}

/** Merges with members that an extension may have set. */
function addTo(body: WireObject, name: string, members: WireObject): void {
  if (Object.keys(members).length === 0) return;
  const present = body[name];
  body[name] = isRecord(present) ? { ...present, ...members } : members;
}

/** Whether the model is in the middle of a step without the thinking that it requires back. */
function isBrokenLoop(messages: readonly Message[]): boolean {
  const last = messages.at(-1);
  if (last?.role !== 'user' || last.content[0]?.['type'] !== 'tool_result') return false;
  const type = messages.at(-2)?.content[0]?.['type'];
  return type !== 'thinking' && type !== 'redacted_thinking';
}

/**
 * Handles a response that the client began. Older models continue it unless it ends with white space. Newer models
 * require the last message to be the user's.
 */
function closeConversation(messages: Message[], refusesBegun: boolean, losses: Losses): void {
  const last = messages.at(-1);
  const block = last?.content.at(-1);
  if (last?.role !== 'assistant' || block?.['type'] !== 'text') return;
  if (refusesBegun) {
    losses.approximated('messages');
    messages.push({ role: 'user', content: [textBlock('Continue.')] });
  } else block['text'] = String(block['text']).trimEnd();
}

/** The members that the counter accepts (`MessageCountTokensParams` in the vendor's SDK). It refuses all others. */
const counted = [
  'model',
  'system',
  'messages',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'cache_control',
  'speed',
] as const;

/** The body of `POST /v1/messages/count_tokens` for an encoded request. */
export function encodeCount(json: JsonRecord): JsonRecord {
  return pick(json, counted);
}
