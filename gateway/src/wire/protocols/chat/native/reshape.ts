import { frame } from '../../shared/text/events.ts';
import {
  isAbsent,
  isRecord,
  recordAt,
  textOf,
  type JsonRecord,
  recordsIn,
} from '../../shared/values.ts';

/** Members of a delta that are streamed in pieces. */
const pieced = new Set(['content', 'reasoning_content', 'reasoning', 'refusal', 'arguments']);

/** Turns a whole response into the frames of a stream. */
export function toEvents(response: JsonRecord): string {
  const { choices, usage, ...rest } = response;
  const base = { ...rest, object: 'chat.completion.chunk' };
  let frames = '';
  for (const choice of recordsIn(choices)) {
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
    for (const { index = 0, delta, ...more } of recordsIn(some)) {
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
    tool_calls: recordsIn(calls).map((call, index) => ({ index, ...call })),
  };
}

function merge(before: JsonRecord, delta: JsonRecord): JsonRecord {
  const mergedMembers: Record<string, unknown> = { ...before };
  for (const [name, value] of Object.entries(delta)) {
    const earlierValue = mergedMembers[name];
    if (isAbsent(value)) continue;
    if (name === 'tool_calls')
      mergedMembers[name] = mergeCalls(recordsIn(earlierValue), recordsIn(value));
    else if (pieced.has(name) && typeof earlierValue === 'string')
      mergedMembers[name] = earlierValue + textOf(value);
    else if (Array.isArray(earlierValue) && Array.isArray(value))
      mergedMembers[name] = [...earlierValue, ...value];
    else if (isRecord(earlierValue) && isRecord(value))
      mergedMembers[name] = merge(earlierValue, value);
    else if (value !== '' || earlierValue === undefined) mergedMembers[name] = value;
  }
  return mergedMembers;
}

function mergeCalls(calls: readonly JsonRecord[], deltas: readonly JsonRecord[]): JsonRecord[] {
  const mergedCalls = [...calls];
  for (const delta of deltas) {
    const index = delta['index'] ?? Math.max(mergedCalls.length - 1, 0);
    const at = mergedCalls.findIndex((call) => call['index'] === index);
    if (at < 0) mergedCalls.push({ ...delta, index });
    else mergedCalls[at] = merge(mergedCalls[at] ?? {}, delta);
  }
  return mergedCalls;
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
        tool_calls: recordsIn(calls).map(withoutIndex),
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

function chunk(value: JsonRecord): string {
  return frame(null, JSON.stringify(value));
}
