import type { WireEvent } from '../http/reply.ts';
import { isObject, parseJson, type JsonObject } from '../json.ts';
import type { Choice, Reasoning, Scenario, Stop, Usage } from '../scenario/scenario.ts';

/** Signs thinking. `omitted` leaves the text out and keeps the signature. */
export interface ThinkingOptions {
  sign(reasoning: Reasoning, text: string): string;
  readonly omitted: boolean;
}

/** A content block, and the deltas that build it up in a stream. */
interface Block {
  readonly whole: JsonObject;
  readonly opening: JsonObject;
  readonly deltas: readonly JsonObject[];
}

export function renderMessage(scenario: Scenario, thinking: ThinkingOptions): JsonObject {
  const choice = scenario.choices[0];
  const blocks = choice ? renderBlocks(choice, thinking) : [];
  return {
    ...envelope(scenario),
    content: blocks.map((block) => block.whole),
    ...ending(choice),
    container: null,
    ...(scenario.usage && { usage: renderUsage(scenario.usage) }),
  };
}

export function renderEvents(scenario: Scenario, thinking: ThinkingOptions): WireEvent[] {
  const choice = scenario.choices[0];
  const blocks = choice ? renderBlocks(choice, thinking) : [];
  const usage = scenario.usage && renderUsage(scenario.usage);
  const opening = {
    ...envelope(scenario),
    content: [],
    stop_reason: null,
    stop_sequence: null,
    ...(usage && { usage: provisional(usage) }),
  };
  const { stop_reason, stop_sequence, ...details } = ending(choice);
  return [
    named('message_start', { message: opening }),
    named('ping', {}),
    ...blocks.flatMap((block, index) => [
      named('content_block_start', { index, content_block: block.opening }),
      ...block.deltas.map((delta) => named('content_block_delta', { index, delta })),
      named('content_block_stop', { index }),
    ]),
    named('message_delta', {
      delta: { stop_reason, stop_sequence, ...details },
      ...(usage && { usage: cumulative(usage) }),
    }),
    named('message_stop', {}),
  ];
}

function named(type: string, fields: JsonObject): WireEvent {
  return { event: type, data: JSON.stringify({ type, ...fields }) };
}

function envelope(scenario: Scenario): JsonObject {
  return {
    id: `msg_${scenario.identity}`,
    type: 'message',
    role: 'assistant',
    model: scenario.model,
  };
}

function ending(choice: Choice | undefined): JsonObject {
  const refused = choice?.stop === 'refusal' || choice?.stop === 'filter';
  return {
    stop_reason: stopReason(choice?.stop ?? 'end'),
    stop_sequence: choice?.stopSequence ?? null,
    ...(refused && {
      stop_details: {
        type: 'refusal',
        category: null,
        explanation: 'The demo was told to refuse.',
      },
    }),
  };
}

function stopReason(stop: Stop): string {
  const reasons: Readonly<Record<Stop, string>> = {
    end: 'end_turn',
    length: 'max_tokens',
    tools: 'tool_use',
    refusal: 'refusal',
    filter: 'refusal',
    sequence: 'stop_sequence',
  };
  return reasons[stop];
}

function renderBlocks(choice: Choice, thinking: ThinkingOptions): Block[] {
  const blocks: Block[] = [];
  if (choice.reasoning) blocks.push(renderThinking(choice.reasoning, thinking));
  if (choice.text.length > 0 && choice.stop !== 'filter') {
    blocks.push({
      whole: { type: 'text', text: choice.text.join(''), citations: null },
      opening: { type: 'text', text: '' },
      deltas: choice.text.map((text) => ({ type: 'text_delta', text })),
    });
  }
  for (const call of choice.calls) {
    const input = parseJson(call.pieces.join(''));
    const use = { type: 'tool_use', id: `toolu_${call.id}`, name: call.name };
    blocks.push({
      whole: { ...use, input: isObject(input) ? input : {}, caller: { type: 'direct' } },
      opening: { ...use, input: {} },
      deltas: ['', ...call.pieces].map((piece) => ({
        type: 'input_json_delta',
        partial_json: piece,
      })),
    });
  }
  return blocks;
}

function renderThinking(reasoning: Reasoning, thinking: ThinkingOptions): Block {
  const pieces = thinking.omitted ? [] : reasoning.pieces;
  const text = pieces.join('');
  const signature = thinking.sign(reasoning, text);
  return {
    whole: { type: 'thinking', thinking: text, signature },
    opening: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces.map((piece) => ({ type: 'thinking_delta', thinking: piece })),
      { type: 'signature_delta', signature },
    ],
  };
}

/** `input_tokens` excludes cache reads and writes; `output_tokens` includes the thinking. */
function renderUsage(usage: Usage): JsonObject {
  return {
    input_tokens: usage.freshInput,
    cache_creation_input_tokens: usage.cacheWrite5m + usage.cacheWrite1h,
    cache_read_input_tokens: usage.cacheRead,
    cache_creation: {
      ephemeral_5m_input_tokens: usage.cacheWrite5m,
      ephemeral_1h_input_tokens: usage.cacheWrite1h,
    },
    output_tokens: usage.visibleOutput + usage.reasoning,
    output_tokens_details: { thinking_tokens: usage.reasoning },
    server_tool_use: null,
    service_tier: 'standard',
  };
}

/** The counts at the start of a stream: the input is known, the output has only begun. */
function provisional(usage: JsonObject): JsonObject {
  const { output_tokens_details: _, ...rest } = usage;
  return { ...rest, output_tokens: 1 };
}

/** The final counts of a stream: the input again, without its constant parts. */
function cumulative(usage: JsonObject): JsonObject {
  const { cache_creation: _, service_tier: __, ...rest } = usage;
  return rest;
}
