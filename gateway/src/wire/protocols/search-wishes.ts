import type { HostedTool } from '#canonical/index.ts';
import type { Losses } from './losses.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from './values.ts';

/** How a client wants the web to be searched, in any of the protocols. */
interface SearchWishes {
  readonly allowed_domains?: unknown;
  readonly blocked_domains?: unknown;
  /** City, region, country, time zone. */
  readonly user_location?: JsonRecord;
  readonly max_uses?: unknown;
  readonly search_context_size?: unknown;
}

type Wish = keyof SearchWishes;

/**
 * The wishes of a search that becomes this upstream's own, under their common names. Those that the upstream has no member
 * for are reported one by one: searching everywhere is not what somebody meant who named the allowed domains.
 * @param takes what the upstream has members for
 */
export function searchWishes(
  tool: HostedTool,
  takes: readonly Wish[],
  losses: Losses,
): SearchWishes {
  if (tool.kind !== 'web-search' || !isRecord(tool.value)) return {};
  const all = Object.entries(read(tool.value)).filter(([, value]) => !isAbsent(value));
  const kept = all.filter(([name]) => takes.includes(name as Wish));
  for (const entry of all) {
    if (!kept.includes(entry)) losses.dropped(`tools.${tool.name}.${entry[0]}`);
  }
  return Object.fromEntries(kept);
}

/** Responses has the domains in `filters`, chat the location in an object of its own. */
function read(value: JsonRecord): SearchWishes {
  const filters = recordAt(value, 'filters');
  const place = recordAt(value, 'user_location');
  const { type: _, ...location } = isRecord(place['approximate']) ? place['approximate'] : place;
  return {
    allowed_domains: value['allowed_domains'] ?? filters['allowed_domains'],
    blocked_domains: value['blocked_domains'] ?? filters['blocked_domains'],
    ...(Object.keys(location).length > 0 && { user_location: location }),
    max_uses: value['max_uses'],
    search_context_size: value['search_context_size'],
  };
}
