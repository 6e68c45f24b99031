import { servingRoutes } from '#routing/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import type { TextInput } from './input.ts';
import type { TextParts } from './parts.ts';
import type { CheckedText } from './prepared.ts';
import { judgeNames } from './state/judge-names.ts';

/**
 * May the caller name what the request names of all that upstreams keep? Null when it names nothing. Nothing is asked
 * when no channel would get the names.
 */
export function authorizeNames(
  parts: Pick<TextParts, 'upstreamState' | 'onRefusedState'>,
  { input }: Exchange<TextInput>,
  checked: CheckedText,
): (() => Promise<CheckedText>) | null {
  const { named } = checked.request;
  if (named === undefined) return null;
  return async () => {
    const { resolved } = checked;
    const routes = servingRoutes(resolved.snapshot, routeQueryOf(input, resolved));
    const channels = routes.map(({ channel }) => channel);
    const reached = channels.filter(({ protocols }) => protocols.includes(input.protocol));
    if (reached.length === 0) return checked;
    return { ...checked, names: await judgeNames(parts, input, named, reached) };
  };
}
