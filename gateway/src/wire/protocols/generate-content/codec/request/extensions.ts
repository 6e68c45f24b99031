import type { Extension, Extensions } from '#canonical/index.ts';
import type { Losses } from '../../../losses.ts';
import { setPath } from '../../fields.ts';

type Fate = Extension['ifForeign'];

/** Members that other protocols cannot have, with dotted names from the object they sit in. */
export function ownExtensions(
  members: readonly (readonly [string, unknown])[],
  prefix = '',
  fateOf: (name: string, value: unknown) => Fate = () => 'drop',
): Extensions {
  return members.map(([name, value]) => ({
    protocol: 'generate-content',
    name: prefix + name,
    value,
    // Some clients fill what they do not use.
    ifForeign: isEmpty(value) ? 'ignore' : fateOf(name, value),
  }));
}

function isEmpty(value: unknown): boolean {
  return typeof value === 'object' && value !== null && Object.keys(value).length === 0;
}

/**
 * Puts our own members back where they were and reports everybody else's.
 * @throws Unconvertible for a foreign one that must not be left out.
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
