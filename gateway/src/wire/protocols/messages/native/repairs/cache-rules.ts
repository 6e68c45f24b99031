import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { blocksIn, type Draft, gone } from './draft.ts';

/** "A maximum of 4 blocks with cache_control may be provided." */
const most = 4;

/** Thinking, and tools that are defined later, cannot end a cached part of the prompt. */
export function unmarkUncacheable(draft: Draft): boolean {
  return mapMarked(draft, (holder) =>
    isUncacheable(holder) ? draft.change(holder, { cache_control: gone }) : holder,
  );
}

export function isUncacheable({ type, defer_loading: deferred }: JsonRecord): boolean {
  return type === 'thinking' || type === 'redacted_thinking' || deferred === true;
}

/** Keeps the last marker of the tools and of the system prompt, which serve every later turn, and the latest others. */
export function limitMarkers(draft: Draft): boolean {
  const { tools, system, messages } = markersOf(draft);
  const all = [...tools, ...system, ...messages];
  let excess = all.length + (isRecord(draft.root['cache_control']) ? 1 : 0) - most;
  if (excess <= 0) return false;
  const keptMarkers = new Set([tools.at(-1), system.at(-1)]);
  const dropped = new Set<JsonRecord>();
  for (const holder of all) {
    if (excess <= 0) break;
    if (keptMarkers.has(holder)) continue;
    dropped.add(holder);
    excess -= 1;
  }
  return mapMarked(draft, (holder) =>
    dropped.has(holder) ? draft.change(holder, { cache_control: gone }) : holder,
  );
}

/** Long-lived entries come first, in the order tools, system prompt, messages, marker of the request itself. */
export function orderLifetimes(draft: Draft): boolean {
  let isShort = false;
  const shorten = (holder: JsonRecord): JsonRecord => {
    const marker = holder['cache_control'] as JsonRecord;
    if (marker['ttl'] !== '1h') isShort = true;
    else if (isShort) return draft.change(holder, { cache_control: shortened(draft, marker) });
    return holder;
  };
  const changed = mapMarked(draft, shorten);
  const whole = draft.root['cache_control'];
  if (!isShort || !isRecord(whole) || whole['ttl'] !== '1h') return changed;
  draft.set('cache_control', shortened(draft, whole));
  return true;
}

function shortened(draft: Draft, marker: JsonRecord): JsonRecord {
  return draft.change(marker, { ttl: '5m' });
}

interface Markers {
  readonly tools: JsonRecord[];
  readonly system: JsonRecord[];
  readonly messages: JsonRecord[];
}

function markersOf(draft: Draft): Markers {
  const foundMarkers: Markers = { tools: [], system: [], messages: [] };
  mapMarked(draft, (holder, where) => {
    foundMarkers[where].push(holder);
    return holder;
  });
  return foundMarkers;
}

type Replace = (holder: JsonRecord, where: keyof Markers) => JsonRecord;

/** In the order in which the prompt is read. A tool result precedes its content. */
function mapMarked(draft: Draft, replace: Replace): boolean {
  const before = draft.root;
  const mapList = <Holder extends JsonRecord>(list: readonly Holder[], where: keyof Markers) =>
    draft.mapList(list, (holder) => mapHolder(draft, holder, where, replace) as Holder);
  const { tools } = draft;
  if (tools !== null) {
    const next = mapList(tools, 'tools');
    if (next !== tools) draft.tools = next;
  }
  const system = blocksIn(draft.root['system']);
  if (system !== null) {
    const next = mapList(system, 'system');
    if (next !== system) draft.set('system', next);
  }
  const { messages } = draft;
  if (messages !== null) {
    const next = draft.mapList(messages, (message) => {
      const { content } = message;
      if (typeof content === 'string') return message;
      const blocks = mapList(content, 'messages');
      return blocks === content ? message : draft.withBlocks(message, blocks);
    });
    if (next !== messages) draft.messages = next;
  }
  return draft.root !== before;
}

function mapHolder(
  draft: Draft,
  holder: JsonRecord,
  where: keyof Markers,
  replace: Replace,
): JsonRecord {
  const own = isRecord(holder['cache_control']) ? replace(holder, where) : holder;
  const inner = holder['type'] === 'tool_result' ? blocksIn(holder['content']) : null;
  if (inner === null) return own;
  const next = draft.mapList(inner, (part) =>
    isRecord(part['cache_control']) ? (replace(part, where) as typeof part) : part,
  );
  return next === inner ? own : draft.change(own, { content: next });
}
