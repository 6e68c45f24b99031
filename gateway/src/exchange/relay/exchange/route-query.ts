import type { RouteQuery } from '#routing/index.ts';
import type { ResolvedModel } from './find-model.ts';
import type { ExchangeInput } from './input.ts';

/** Which routes an exchange may take. */
export function routeQueryOf(
  { caller, headers, protocol }: Pick<ExchangeInput, 'caller' | 'headers' | 'protocol'>,
  { name, servedNames }: ResolvedModel,
): RouteQuery {
  const userAgent = headers['user-agent'];
  return {
    group: caller.group,
    clientModel: name,
    servedNames,
    protocol,
    userAgent: typeof userAgent === 'string' ? userAgent : '',
  };
}
