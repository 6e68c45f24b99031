import type { Extension, GenerationRequest } from '#canonical/index.ts';
import type { CacheOffer } from '../../../codec.ts';
import { isRecord } from '../../../shared/values.ts';
import type { WireObject } from '../../wire.ts';
import { setCacheControl } from './encode-content.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { textFacts } from '../../../text-facts.ts';

/** A request in the making, and what marks the whole of it. */
interface Markable extends Marked {
  readonly messages: readonly {
    readonly role: string;
    readonly content: readonly WireObject[];
  }[];
}

/** Blocks that may end a cache entry: https://platform.claude.com/docs/en/build-with-claude/prompt-caching */
const markable: ReadonlySet<unknown> = new Set(['text', 'image', 'document', 'tool_result']);

/** The members by which other clients choose how long their caches live. */
const lifetimes: ReadonlySet<string> = new Set(['prompt_cache_retention', 'prompt_cache_options']);

/** Whether the member only says how long caches live. */
export function isLifetime({ protocol, name }: Extension): boolean {
  return textFacts[protocol].sharesTiers && lifetimes.has(name);
}

/**
 * Marks the end of the tools and instructions, and of the two last turns of the user. The next request continues at the
 * last one. The one before it is where the last request was marked, so that a turn of many blocks does not hide its entry:
 * the vendor looks back over 20 blocks.
 */
export function placeCacheMarks(
  { tools, system, messages }: Markable,
  { extensions }: Pick<GenerationRequest, 'extensions'>,
  { isLongPriced }: CacheOffer,
): void {
  const isLong = isLongPriced && extensions.filter(isLifetime).some(livesLong);
  const ttl = isLong ? '1h' : null;
  const setup =
    system.findLast(isMarkable) ?? tools.findLast((tool) => tool['defer_loading'] !== true);
  const turns = messages.filter(({ role }) => role === 'user').slice(-2);
  const ends = turns.map(({ content }) => content.findLast(isMarkable));
  for (const block of [setup, ...ends]) if (block !== undefined) setCacheControl(block, { ttl });
}

function isMarkable({ type, text }: WireObject): boolean {
  return markable.has(type) && text !== '';
}

/** `24h`, or a lifetime above the five minutes of an ordinary entry. */
function livesLong({ value }: Extension): boolean {
  const text = isRecord(value) ? value['ttl'] : value;
  const [, count = '', unit = ''] =
    typeof text === 'string' ? (/^(\d{1,4})(m|h|d)$/.exec(text) ?? []) : [];
  return unit === 'm' ? Number(count) > 5 : count !== '';
}

/** "A maximum of 4 blocks with cache_control may be provided." */
const most = 4;

interface Marked {
  readonly tools: readonly WireObject[];
  readonly system: readonly WireObject[];
  readonly messages: readonly { readonly content: readonly WireObject[] }[];
}

/**
 * Keeps at most four cache markers, and no long-lived one after a short-lived one, because upstreams refuse both.
 * Keeps the last one of the tools and of the system prompt, which serve every later turn, and the latest of the rest.
 */
export function limitCacheMarkers(body: Marked, reserved: number, losses: Losses): void {
  const tools = markersIn(body.tools);
  const system = markersIn(body.system);
  const messages = body.messages.flatMap(({ content }) => markersIn(content));
  const all = [...tools, ...system, ...messages];
  const keptMarkers = new Set([tools.at(-1), system.at(-1)]);
  let excess = all.length - (most - reserved);
  for (const holder of all) {
    if (excess <= 0) break;
    if (keptMarkers.has(holder)) continue;
    delete holder['cache_control'];
    losses.dropped('cache');
    excess -= 1;
  }
  orderLifetimes(all);
}

/** Whether the client has placed any. */
export function hasCacheMarkers({ tools, system, messages }: Marked): boolean {
  return (
    markersIn(tools).length + markersIn(system).length > 0 ||
    messages.some(({ content }) => markersIn(content).length > 0)
  );
}

function markersIn(blocks: readonly WireObject[]): WireObject[] {
  return blocks.flatMap((block) => {
    const content = block['content'];
    const inner = block['type'] === 'tool_result' && Array.isArray(content) ? content : [];
    const own = block['cache_control'] === undefined ? [] : [block];
    return [...markersIn(inner as WireObject[]), ...own];
  });
}

function orderLifetimes(holders: readonly WireObject[]): void {
  let isShort = false;
  for (const holder of holders) {
    const marker = holder['cache_control'] as WireObject | undefined;
    if (marker === undefined) continue;
    if (marker['ttl'] !== '1h') isShort = true;
    else if (isShort) holder['cache_control'] = { type: 'ephemeral' };
  }
}
