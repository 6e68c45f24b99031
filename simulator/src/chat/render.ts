import type { WireEvent } from '../http/reply.ts';
import { obfuscate } from '../openai/obfuscation.ts';
import type { Choice, Scenario, Stop, ToolCall, Usage } from '../scenario/scenario.ts';

interface Envelope {
  readonly created: number;
  readonly serviceTier: string;
}

interface StreamOptions {
  readonly includeUsage: boolean;
  readonly obfuscation: boolean;
}

/** The response as one `chat.completion`. */
export function renderCompletion(scenario: Scenario, envelope: Envelope): unknown {
  return {
    id: completionId(scenario),
    object: 'chat.completion',
    created: envelope.created,
    model: scenario.model,
    choices: scenario.choices.map((choice, index) => ({
      index,
      message: renderMessage(choice),
      logprobs: null,
      finish_reason: finishReason(choice.stop),
    })),
    ...(scenario.usage && { usage: renderUsage(scenario.usage) }),
    service_tier: envelope.serviceTier,
    system_fingerprint: 'fp_simulator',
  };
}

/**
 * The response as chunks. With `includeUsage`, every chunk has `usage: null`, except for the last
 * one, which has empty choices and the counts. Without it, no chunk has the member.
 */
export function renderChunks(
  scenario: Scenario,
  envelope: Envelope,
  options: StreamOptions,
): WireEvent[] {
  const { includeUsage } = options;
  const frame = {
    id: completionId(scenario),
    object: 'chat.completion.chunk',
    created: envelope.created,
    model: scenario.model,
    service_tier: envelope.serviceTier,
    system_fingerprint: 'fp_simulator',
  };
  const nullUsage = includeUsage ? { usage: null } : {};
  const chunk = (index: number, delta: unknown, finish: string | null = null): WireEvent => ({
    data: JSON.stringify({
      ...frame,
      choices: [{ index, delta, logprobs: null, finish_reason: finish }],
      ...nullUsage,
      ...(options.obfuscation && obfuscate(JSON.stringify(delta))),
    }),
  });
  const events = scenario.choices.flatMap((choice, index) => [
    ...renderDeltas(choice).map((delta) => chunk(index, delta)),
    chunk(index, {}, finishReason(choice.stop)),
  ]);
  if (includeUsage && scenario.usage) {
    events.push({
      data: JSON.stringify({ ...frame, choices: [], usage: renderUsage(scenario.usage) }),
    });
  }
  return [...events, { data: '[DONE]' }];
}

function renderDeltas(choice: Choice): unknown[] {
  const refused = choice.stop === 'refusal';
  return [
    { role: 'assistant', content: choice.calls.length > 0 ? null : '', refusal: null },
    ...(choice.reasoning?.pieces ?? []).map((piece) => ({ reasoning_content: piece })),
    ...(choice.stop === 'filter' ? [] : choice.text).map((piece) =>
      refused ? { refusal: piece } : { content: piece },
    ),
    ...choice.calls.flatMap(renderCallDeltas),
  ];
}

function renderCallDeltas(call: ToolCall, index: number): unknown[] {
  const id = callId(call);
  const { kind, name } = call;
  const text = kind === 'custom' ? 'input' : 'arguments';
  return [
    { tool_calls: [{ index, id, type: kind, [kind]: { name, [text]: '' } }] },
    ...call.pieces.map((piece) => ({ tool_calls: [{ index, [kind]: { [text]: piece } }] })),
  ];
}

function renderMessage(choice: Choice): unknown {
  const text = choice.text.join('');
  const refused = choice.stop === 'refusal';
  const silent = refused || choice.stop === 'filter' || choice.calls.length > 0;
  return {
    role: 'assistant',
    content: silent ? null : text,
    refusal: refused ? text : null,
    ...(choice.reasoning && { reasoning_content: choice.reasoning.pieces.join('') }),
    annotations: [],
    ...(choice.calls.length > 0 && { tool_calls: choice.calls.map(renderCall) }),
  };
}

function renderCall(call: ToolCall): unknown {
  const { kind, name } = call;
  const text = call.pieces.join('');
  const body = kind === 'custom' ? { name, input: text } : { name, arguments: text };
  return { id: callId(call), type: kind, [kind]: body };
}

function callId(call: ToolCall): string {
  return `call_${call.id}`;
}

function completionId(scenario: Scenario): string {
  return `chatcmpl-${scenario.identity}`;
}

function finishReason(stop: Stop): string {
  if (stop === 'length') return 'length';
  if (stop === 'tools') return 'tool_calls';
  return stop === 'filter' ? 'content_filter' : 'stop';
}

/** `prompt_tokens` includes both cache counts, `completion_tokens` includes the reasoning. */
function renderUsage(usage: Usage): unknown {
  const written = usage.cacheWrite5m + usage.cacheWrite1h;
  const prompt = usage.freshInput + usage.cacheRead + written;
  const completion = usage.visibleOutput + usage.reasoning;
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: written,
      audio_tokens: 0,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: 0,
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}
