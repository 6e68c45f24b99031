import { frame } from '../../shared/text/events.ts';
import { isAbsent, isRecord, recordAt, textOf, type JsonRecord } from '../../shared/values.ts';

/** Turns a whole response into a stream: it is a valid event. */
export function toEvents(response: JsonRecord): string {
  return frame(null, JSON.stringify(response));
}

/** Joins the events of a complete stream into one response. */
export function toWhole(events: readonly JsonRecord[]): JsonRecord {
  let base: JsonRecord = {};
  let usage: JsonRecord = {};
  const candidates = new Map<unknown, JsonRecord>();
  for (const { candidates: some, usageMetadata, ...rest } of events) {
    base = { ...base, ...rest };
    if (isRecord(usageMetadata)) usage = { ...usage, ...usageMetadata };
    for (const candidate of Array.isArray(some) ? some.filter(isRecord) : []) {
      const { index = 0 } = candidate;
      candidates.set(index, join(candidates.get(index) ?? {}, candidate));
    }
  }
  return {
    ...(candidates.size > 0 && { candidates: [...candidates.values()] }),
    ...base,
    ...(Object.keys(usage).length > 0 && { usageMetadata: usage }),
  };
}

function join(before: JsonRecord, candidate: JsonRecord): JsonRecord {
  const earlier = recordAt(before, 'content');
  const later = recordAt(candidate, 'content');
  const parts = partsOf(earlier);
  for (const part of partsOf(later)) addPart(parts, part);
  const { content: _, ...rest } = candidate;
  const presentMembers = Object.fromEntries(
    Object.entries(rest).filter(([, value]) => !isAbsent(value)),
  );
  return { ...before, ...presentMembers, content: { ...earlier, ...later, parts } };
}

/** Whether a part continues the one before: both are unsigned text, or both unsigned thoughts. */
function addPart(parts: JsonRecord[], part: JsonRecord): void {
  const last = parts.at(-1);
  if (last === undefined || !isPlain(last) || !isPlain(part) || last['thought'] !== part['thought'])
    parts.push(part);
  else parts[parts.length - 1] = { ...last, text: textOf(last['text']) + textOf(part['text']) };
}

function isPlain(part: JsonRecord): boolean {
  return (
    typeof part['text'] === 'string' &&
    Object.keys(part).every((name) => name === 'text' || name === 'thought')
  );
}

function partsOf(content: JsonRecord): JsonRecord[] {
  const { parts } = content;
  return Array.isArray(parts) ? parts.filter(isRecord) : [];
}
