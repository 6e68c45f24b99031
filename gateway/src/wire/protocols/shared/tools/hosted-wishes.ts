import { type HostedTool, Unconvertible } from '#canonical/index.ts';
import type { Losses } from '../text/losses.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../values.ts';

/** How a client wants a tool of its vendor to work. Those of searches exist in several protocols. */
interface HostedWishes {
  readonly allowed_domains?: unknown;
  readonly blocked_domains?: unknown;
  /** City, region, country, time zone. */
  readonly user_location?: JsonRecord;
  readonly max_uses?: unknown;
  readonly search_context_size?: unknown;
}

type Wish = keyof HostedWishes;

/**
 * The wishes of a tool that becomes this upstream's own, under their common names. Those that the upstream has no member
 * for are reported one by one: searching everywhere is not what somebody meant who named the allowed domains.
 * @param takes what the upstream has members for, if the tool searches
 * @throws Unconvertible for a container: it is another vendor's
 */
export function hostedWishes(
  tool: HostedTool,
  takes: readonly Wish[],
  losses: Losses,
): HostedWishes {
  if (!isRecord(tool.value)) return {};
  const all = Object.entries(readers[tool.kind]?.(tool.value) ?? {});
  const wished = all.filter(([, value]) => !isAbsent(value));
  const keptWishes =
    tool.kind === 'web-search' ? wished.filter(([name]) => takes.includes(name as Wish)) : [];
  for (const entry of wished) {
    if (!keptWishes.includes(entry)) losses.dropped(`tools.${tool.name}.${entry[0]}`);
  }
  return Object.fromEntries(keptWishes);
}

const readers: Readonly<Partial<Record<HostedTool['kind'], (value: JsonRecord) => JsonRecord>>> = {
  'web-search': readSearch,
  fetch: readFetch,
  code: readCode,
};

/** Responses has the domains in `filters`, chat the location in an object of its own. */
function readSearch(value: JsonRecord): JsonRecord {
  const filters = recordAt(value, 'filters');
  const place = recordAt(value, 'user_location');
  const { type: _, ...location } = isRecord(place['approximate']) ? place['approximate'] : place;
  return {
    allowed_domains: value['allowed_domains'] ?? filters['allowed_domains'],
    blocked_domains: value['blocked_domains'] ?? filters['blocked_domains'],
    ...(Object.keys(location).length > 0 && { user_location: location }),
    max_uses: value['max_uses'],
    search_context_size: value['search_context_size'],
    // The default, true, is what every other vendor does.
    ...(value['external_web_access'] === false && { external_web_access: false }),
  };
}

function readFetch(value: JsonRecord): JsonRecord {
  const { allowed_domains, blocked_domains, max_uses, max_content_tokens, citations } = value;
  return { allowed_domains, blocked_domains, max_uses, max_content_tokens, citations };
}

/** Files and limits of a new container; an existing one is named by its id. */
function readCode({ container }: JsonRecord): JsonRecord {
  if (typeof container === 'string') {
    const reason = "another vendor's container cannot be used with this model";
    throw new Unconvertible('tools.container', reason, 'tools');
  }
  const { type: _, ...wishes } = isRecord(container) ? container : {};
  return wishes;
}
