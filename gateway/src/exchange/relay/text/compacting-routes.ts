import { GatewayError } from '#errors/index.ts';
import { isNative } from '#routing/index.ts';
import { vendorOf } from '#vendors/index.ts';
import type { PreparedText } from './prepared.ts';

/**
 * The routes whose upstreams compact conversations, in the same order. None gets a limit of output: compactions have
 * no member for it.
 * @throws GatewayError `invalid_value` when there is none. 404 would make clients take the gateway for one without the
 * protocol.
 */
export function compactingRoutes(prepared: PreparedText): PreparedText {
  const routes = prepared.routes.filter(
    (route) => isNative(route, 'responses') && vendorOf(route.channel)?.compacts === true,
  );
  if (routes.length === 0) {
    const reason = 'compaction is not available for this model';
    throw new GatewayError('invalid_value', { values: { reason } });
  }
  return { ...prepared, routes, bounds: { ...prepared.bounds, cap: null } };
}
