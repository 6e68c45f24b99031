import type { TextProtocolName } from '#canonical/index.ts';
import type { StreamEvent } from '#protocols/index.ts';

/** What a tap should conclude from one event, worked out from the parsed JSON with no regard to speed. */
export interface Conclusion {
  readonly failed: boolean;
  readonly content: boolean;
  readonly terminal: boolean;
  readonly bytes: number;
  /** The usage object as the event holds it. */
  readonly usage: unknown;
}

type Json = Record<string, unknown>;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const record = (value: unknown): Json => (isRecord(value) ? value : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const size = (value: unknown): number => (typeof value === 'string' ? Buffer.byteLength(value) : 0);
const sum = (counts: readonly number[]) => counts.reduce((all, count) => all + count, 0);

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  value === '' ||
  Object.is(value, 0) ||
  (typeof value === 'object' && Object.keys(value).length === 0);

const failure: Conclusion = {
  failed: true,
  content: false,
  terminal: false,
  bytes: 0,
  usage: null,
};

export function conclude(protocol: TextProtocolName, event: StreamEvent): Conclusion {
  const json = record(JSON.parse(event.data?.toString('utf8') ?? ''));
  const type = event.name ?? json['type'];
  if (!isEmpty(json['error'])) return failure;
  if ((protocol === 'chat' ? event.name : type) === 'error') return failure;
  return conclusions[protocol](json, String(type));
}

const conclusions: Record<TextProtocolName, (json: Json, type: string) => Conclusion> = {
  chat,
  responses,
  messages,
  'generate-content': generateContent,
};

const written = [
  'content',
  'refusal',
  'reasoning_content',
  'reasoning',
  'tool_calls',
  'function_call',
];
const inner = ['function', 'custom', 'name', 'arguments', 'input', 'text', 'thinking'];

function textOf(value: unknown): number {
  if (Array.isArray(value)) return sum(value.map(textOf));
  if (!isRecord(value)) return size(value);
  return sum(inner.map((name) => textOf(value[name])));
}

function chat(json: Json): Conclusion {
  const choices = list(json['choices']).map(record);
  const deltas = choices.map((choice) => record(choice['delta']));
  const finished = choices.some((choice) => !isEmpty(choice['finish_reason']));
  const groq = record(json['x_groq'])['usage'];
  return {
    failed: false,
    content:
      finished ||
      deltas.some((delta) =>
        Object.entries(delta).some(([name, value]) => name !== 'role' && !isEmpty(value)),
      ),
    terminal: false,
    bytes: sum(deltas.flatMap((delta) => written.map((name) => textOf(delta[name])))),
    usage: isEmpty(json['usage']) ? groq : json['usage'],
  };
}

function responses(json: Json, type: string): Conclusion {
  const terminal = type === 'response.completed' || type === 'response.incomplete';
  const whole = type === 'response.output_item.done' || type.endsWith('.partial_image');
  return {
    failed: type === 'response.failed',
    content: type.endsWith('.delta') || terminal || whole,
    terminal,
    bytes: size(json['delta']),
    usage: terminal ? record(json['response'])['usage'] : null,
  };
}

function messages(json: Json, type: string): Conclusion {
  const delta = record(json['delta']);
  const block = json['content_block'];
  const texts = ['text', 'partial_json', 'thinking'].map((name) => size(delta[name]));
  const isBlockDelta = !Object.hasOwn(delta, 'stop_reason');
  const hasPayload = Object.entries(delta).some(
    ([name, value]) => name !== 'type' && !isEmpty(value),
  );
  const blockText = isRecord(block) ? size(block['text']) + size(block['thinking']) : 0;
  const isFrame = isRecord(block) && (block['type'] === 'text' || block['type'] === 'thinking');
  return {
    failed: false,
    content:
      type !== 'message_start' &&
      type !== 'message_stop' &&
      ((isBlockDelta && hasPayload) ||
        !isEmpty(delta['stop_reason']) ||
        (isRecord(block) && (!isFrame || blockText > 0))),
    terminal: type === 'message_stop',
    bytes: sum(texts) + blockText + (isRecord(block) ? size(block['name']) : 0),
    usage: null,
  };
}

function generateContent(json: Json): Conclusion {
  const candidates = list(json['candidates']).map(record);
  const parts = candidates
    .flatMap((candidate) => list(record(candidate['content'])['parts']))
    .map(record);
  const terminal =
    candidates.some((candidate) => !isEmpty(candidate['finishReason'])) ||
    !isEmpty(record(json['promptFeedback'])['blockReason']);
  return {
    failed: false,
    content:
      terminal ||
      parts.some((part) =>
        Object.entries(part).some(([name, value]) => name !== 'thought' && !isEmpty(value)),
      ),
    terminal,
    bytes: sum(
      parts.map((part) => size(part['text']) + size(record(part['functionCall'])['name'])),
    ),
    usage: json['usageMetadata'],
  };
}
