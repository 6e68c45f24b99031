import type { Loss } from '../../canonical/index.ts';
import { carriesEnvelopes, stripEnvelopes } from '../../conversion/index.ts';
import type { Protocol, WireRequest } from '../../protocols/index.ts';

/** Of a history that an upstream of another protocol wrote in part. */
export const strippedLosses: readonly Loss[] = Object.freeze([
  Object.freeze({ what: 'reasoning.state', how: 'dropped' }),
]);

/**
 * The request for an upstream that speaks the client's protocol: the very same, unless its history holds reasoning
 * that other upstreams made and we sealed, which this one would refuse.
 */
export function nativeRequest(protocol: Protocol, request: WireRequest): WireRequest {
  if (!carriesEnvelopes(request.body, protocol.name)) return request;
  const body = Buffer.from(JSON.stringify(stripEnvelopes(request.json)));
  return protocol.readRequest(protocol.openRequest(body, request.path));
}
