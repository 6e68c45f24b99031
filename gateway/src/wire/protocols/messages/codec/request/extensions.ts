import type { Extensions } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import type { WireObject } from '../../wire.ts';

/**
 * Restores this protocol's extensions as members of the wire object, and reports those of other protocols.
 * @throws Unconvertible for a foreign one that the response depends on.
 */
export function applyExtensions(
  target: WireObject,
  extensions: Extensions | undefined,
  losses: Losses,
): void {
  for (const { protocol, name, value, ifForeign } of extensions ?? []) {
    if (protocol === 'messages') {
      if (!ownHandled.has(name)) target[name] = value;
    } else losses.ofClient(name, ifForeign);
  }
}

/** Extensions that encoders look up themselves. They are not members of the wire object. */
const ownHandled: ReadonlySet<string> = new Set([
  'system.attribution',
  'search_result',
  'thinking',
  'temperature',
]);
