import type { Extension, Extensions } from '#canonical/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';
import { setPath } from '../../fields.ts';

type Fate = Extension['ifForeign'];

/** Members that only this protocol has, with names dotted from their object. */
export function ownExtensions(
  members: readonly (readonly [string, unknown])[],
  prefix = '',
  fateOf: (name: string, value: unknown) => Fate = () => 'drop',
): Extensions {
  return members.map(([name, value]) => ({
    protocol: 'generate-content',
    name: prefix + name,
    value,
    // Some clients fill unused members.
    ifForeign: isEmpty(value) ? 'ignore' : fateOf(name, value),
  }));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Restores this protocol's members to their places, and reports those of other protocols.
 * @throws Unconvertible for a foreign one that must not be dropped.
 */
export function restoreExtensions(
  target: Record<string, unknown>,
  extensions: Extensions | undefined,
  losses: Losses,
): void {
  for (const extension of extensions ?? []) {
    if (extension.protocol === 'generate-content') setPath(target, extension.name, extension.value);
    else losses.ofClient(extension.name, extension.ifForeign);
  }
}
