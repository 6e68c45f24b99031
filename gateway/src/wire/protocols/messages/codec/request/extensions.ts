import type { Extensions } from '#canonical/index.ts';
import type { Losses } from '../../../losses.ts';
import type { WireObject } from '../../wire.ts';

/**
 * Own extensions become members of the wire object again; what others left behind is reported.
 * @throws Unconvertible for a foreign one that the answer depends on.
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

/** Extensions that the encoders look up themselves. Their names hold characters or meanings no member has. */
const ownHandled: ReadonlySet<string> = new Set([
  'system.attribution',
  'search_result',
  'thinking',
  'temperature',
]);
