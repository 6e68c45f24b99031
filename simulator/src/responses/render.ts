import type { JsonObject } from '../json.ts';
import { isPresent } from '../json.ts';
import { deriveId } from '../scenario/identity.ts';
import type { Choice, Scenario, ToolCall, Usage } from '../scenario/scenario.ts';

/** One output item together with the pieces in which it is streamed. */
export interface OutputItem {
  readonly item: JsonObject;
  readonly pieces: readonly string[];
}

export interface RenderOptions {
  readonly created: number;
  /** Fields of the request that the response repeats. */
  readonly request: JsonObject;
  /** Signed reasoning to be returned; undefined if the request did not ask for it. */
  readonly encrypt: ((nonce: string) => string) | undefined;
}

export function responseId(scenario: Scenario): string {
  return `resp_${scenario.identity}`;
}

/** The finished items in order: reasoning, message, calls. */
export function renderItems(scenario: Scenario, options: RenderOptions): OutputItem[] {
  const choice = scenario.choices[0];
  if (choice === undefined) return [];
  const items: OutputItem[] = [];
  if (choice.reasoning) items.push(renderReasoning(choice.reasoning, options));
  const text = choice.text.join('');
  const hasMessage = choice.text.length > 0 && choice.stop !== 'filter';
  if (hasMessage) {
    const part =
      choice.stop === 'refusal'
        ? { type: 'refusal', refusal: text }
        : { type: 'output_text', annotations: [], logprobs: [], text };
    items.push({
      item: {
        id: `msg_${deriveId(scenario.identity, 'message')}`,
        type: 'message',
        status: statusOf(choice) === 'completed' ? 'completed' : 'incomplete',
        role: 'assistant',
        content: [part],
      },
      pieces: choice.text,
    });
  }
  for (const call of choice.calls) items.push(renderCall(call, choice));
  return items;
}

function renderReasoning(
  reasoning: NonNullable<Choice['reasoning']>,
  options: RenderOptions,
): OutputItem {
  const asked = options.request['reasoning'] as { summary?: unknown } | null | undefined;
  const pieces = isPresent(asked?.summary) ? reasoning.pieces : [];
  const text = pieces.join('');
  return {
    item: {
      id: `rs_${reasoning.nonce}`,
      type: 'reasoning',
      summary: text === '' ? [] : [{ type: 'summary_text', text }],
      ...(options.encrypt && { encrypted_content: options.encrypt(reasoning.nonce) }),
    },
    pieces,
  };
}

function renderCall(call: ToolCall, choice: Choice): OutputItem {
  const text = call.pieces.join('');
  const common = {
    status: choice.stop === 'length' ? 'incomplete' : 'completed',
    call_id: `call_${call.id}`,
    name: call.name,
  };
  const item =
    call.kind === 'custom'
      ? { id: `ctc_${call.id}`, type: 'custom_tool_call', ...common, input: text }
      : { id: `fc_${call.id}`, type: 'function_call', ...common, arguments: text };
  return { item, pieces: call.pieces };
}

function statusOf(choice: Choice | undefined): 'completed' | 'incomplete' {
  return choice?.stop === 'length' || choice?.stop === 'filter' ? 'incomplete' : 'completed';
}

/** The response object before there is any output. */
export function renderOpening(scenario: Scenario, { created, request }: RenderOptions): JsonObject {
  const repeated = (key: string, otherwise: unknown) => request[key] ?? otherwise;
  return {
    id: responseId(scenario),
    object: 'response',
    created_at: created,
    status: 'in_progress',
    background: false,
    completed_at: null,
    error: null,
    incomplete_details: null,
    instructions: repeated('instructions', null),
    frequency_penalty: 0,
    max_output_tokens: repeated('max_output_tokens', null),
    max_tool_calls: repeated('max_tool_calls', null),
    model: scenario.model,
    output: [],
    parallel_tool_calls: repeated('parallel_tool_calls', true),
    previous_response_id: repeated('previous_response_id', null),
    presence_penalty: 0,
    prompt_cache_key: repeated('prompt_cache_key', null),
    prompt_cache_retention: repeated('prompt_cache_retention', null),
    reasoning: { effort: null, summary: null, ...(request['reasoning'] as object | null) },
    safety_identifier: repeated('safety_identifier', null),
    service_tier: 'default',
    store: repeated('store', true),
    temperature: repeated('temperature', 1),
    text: { format: { type: 'text' }, verbosity: 'medium', ...(request['text'] as object | null) },
    tool_choice: repeated('tool_choice', 'auto'),
    tools: repeated('tools', []),
    top_logprobs: repeated('top_logprobs', 0),
    top_p: repeated('top_p', 1),
    truncation: repeated('truncation', 'disabled'),
    usage: null,
    user: repeated('user', null),
    metadata: repeated('metadata', {}),
  };
}

/** The complete response object. */
export function renderResponse(
  scenario: Scenario,
  options: RenderOptions,
  items: readonly OutputItem[],
): JsonObject {
  const choice = scenario.choices[0];
  const reason = choice?.stop === 'filter' ? 'content_filter' : 'max_output_tokens';
  const status = statusOf(choice);
  const { usage: _, ...opening } = renderOpening(scenario, options);
  return {
    ...opening,
    status,
    completed_at: options.created,
    incomplete_details: status === 'incomplete' ? { reason } : null,
    output: items.map(({ item }) => item),
    ...(scenario.usage && { usage: renderUsage(scenario.usage) }),
  };
}

/** `input_tokens` includes both cache counts, `output_tokens` includes the reasoning. */
export function renderUsage(usage: Usage): JsonObject {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const input = usage.freshInput + usage.cacheRead + written;
  const output = usage.visibleOutput + usage.reasoning;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: usage.cacheRead, cache_write_tokens: written },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: usage.reasoning },
    total_tokens: input + output,
  };
}
