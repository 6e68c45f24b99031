import { type Extensions, type Loss, Unconvertible } from '../../canonical/index.ts';
import type { WireObject } from './wire.ts';

/** What is lost while one request is encoded; each thing once in each way, however often it occurs. */
export interface Losses {
  drop(what: string): void;
  approximate(what: string): void;
  readonly all: readonly Loss[];
}

export function createLosses(): Losses {
  const found = new Map<string, Loss>();
  const add = (what: string, how: Loss['how']): void => {
    found.set(`${how} ${what}`, { what, how });
  };
  return {
    drop: (what) => add(what, 'dropped'),
    approximate: (what) => add(what, 'approximated'),
    get all() {
      return [...found.values()];
    },
  };
}

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
    } else if (ifForeign === 'refuse') {
      throw new Unconvertible(name, `${name} cannot be carried to the upstream of this model`);
    } else if (ifForeign === 'drop') losses.drop(name);
  }
}

/** Extensions that the encoders look up themselves. Their names hold characters or meanings no member has. */
const ownHandled: ReadonlySet<string> = new Set([
  'system.attribution',
  'search_result',
  'thinking',
  'temperature',
]);
