import type { Losses } from '../../../shared/text/losses.ts';
import type { WireObject } from '../../wire.ts';

/** "A maximum of 4 blocks with cache_control may be provided." */
const most = 4;

export interface Marked {
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
  const kept = new Set([tools.at(-1), system.at(-1)]);
  let excess = all.length - (most - reserved);
  for (const holder of all) {
    if (excess <= 0) break;
    if (kept.has(holder)) continue;
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
