import { frame } from '../../shared/text/events.ts';
import { isAbsent, isRecord, recordAt, textOf, type JsonRecord } from '../../shared/values.ts';

/** Members of a delta that are streamed in pieces. */
const pieced = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'arguments']);

/** Turns a whole response into the frames of a stream. */
export function toEvents(response: JsonRecord): string {
  const { choices, usage, ...rest } = response;
  const base = { ...rest, object: 'chat.completion.chunk' };
  let frames = '';
  for (const choice of recordsOf(choices)) {
    const { message, finish_reason, index = 0, ...more } = choice;
    const delta = isRecord(message) ? withIndexes(message) : {};
    frames += chunk({ ...base, choices: [{ ...more, index, delta, finish_reason: null }] });
    frames += chunk({ ...base, choices: [{ index, delta: {}, finish_reason }] });
  }
  if (!isAbsent(usage)) frames += chunk({ ...base, choices: [], usage });
  return frames + frame(null, '[DONE]');
}

/** Joins the chunks of a complete stream into one response. */
export function toWhole(chunks: readonly JsonRecord[]): JsonRecord {
  let base: JsonRecord = {};
  let usage: unknown;
  const choices = new Map<unknown, JsonRecord>();
  for (const { choices: some, usage: counted, ...rest } of chunks) {
    base = { ...rest, ...withoutEmpty(base) };
    if (!isAbsent(counted)) usage = counted;
    for (const { index = 0, delta, ...more } of recordsOf(some)) {
      const before = choices.get(index) ?? {};
      choices.set(index, {
        ...before,
        index,
        ...withoutEmpty(more),
        ...(isRecord(more['logprobs']) && {
          logprobs: merge(recordAt(before, 'logprobs'), more['logprobs']),
        }),
        message: merge(recordAt(before, 'message'), isRecord(delta) ? delta : {}),
      });
    }
  }
  return {
    ...base,
    object: 'chat.completion',
    choices: [...choices.values()].map(finished),
    ...(usage !== undefined && { usage }),
  };
}

/** Numbers the calls: streams identify them by index, whole responses by their place. */
function withIndexes(message: JsonRecord): JsonRecord {
  const { tool_calls: calls } = message;
  if (!Array.isArray(calls)) return message;
  return {
    ...message,
    tool_calls: recordsOf(calls).map((call, index) => ({ index, ...call })),
  };
}

function merge(before: JsonRecord, delta: JsonRecord): JsonRecord {
  const merged: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const earlierValue = merged[name];
    if (isAbsent(value)) continue;
    if (name === 'tool_calls') merged[name] = mergeCalls(recordsOf(earlierValue), recordsOf(value));
    else if (pieced.has(name) && typeof earlierValue === 'string')
      merged[name] = earlierValue + textOf(value);
    else if (Array.isArray(earlierValue) && Array.isArray(value))
      merged[name] = [...earlierValue, ...value];
    else if (isRecord(earlierValue) && isRecord(value)) merged[name] = merge(earlierValue, value);
    else if (value !== '' || earlierValue === undefined) merged[name] = value;
  }
  return merged;
}

function mergeCalls(calls: readonly JsonRecord[], deltas: readonly JsonRecord[]): JsonRecord[] {
  const merged = [...calls];
  for (const delta of deltas) {
    const index = delta['index'] ?? Math.max(merged.length - 1, 0);
    const at = merged.findIndex((call) => call['index'] === index);
    if (at < 0) merged.push({ ...delta, index });
    else merged[at] = merge(merged[at] ?? {}, delta);
  }
  return merged;
}

function finished(choice: JsonRecord): JsonRecord {
  const message = recordAt(choice, 'message');
  const calls = message['tool_calls'];
  return {
    finish_reason: Array.isArray(calls) ? 'tool_calls' : 'stop',
    ...choice,
    message: {
      role: 'assistant',
      content: null,
      ...message,
      ...(Array.isArray(calls) && {
        tool_calls: recordsOf(calls).map(withoutIndex),
      }),
    },
  };
}

function withoutIndex(call: JsonRecord): JsonRecord {
  const { index: _, ...rest } = call;
  return rest;
}

function withoutEmpty(record: JsonRecord): JsonRecord {
  return Object.fromEntries(
    Object.entries(record).filter(([, value]) => !isAbsent(value) && value !== ''),
  );
}

function recordsOf(value: unknown): readonly JsonRecord[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}

function chunk(value: JsonRecord): string {
  return frame(null, JSON.stringify(value));
}
