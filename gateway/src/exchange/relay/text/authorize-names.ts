import { servingRoutes } from '#routing/index.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import type { TextInput } from './input.ts';
import type { TextParts } from './parts.ts';
import type { CheckedText } from './prepared.ts';
import { judgeNames } from './state/judge-names.ts';

/**
 * Judges whether the caller may name the ids of upstream state in the request. Null when there are none. Nothing is
 * checked when no channel would get the ids.
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
