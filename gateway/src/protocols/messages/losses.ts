import {
  type Extension,
  type Extensions,
  type Loss,
  type LossName,
  Unconvertible,
} from '../../canonical/index.ts';
import type { WireObject } from './wire.ts';

/** What is lost while one request is encoded; each thing once in each way, however often it occurs. */
export interface Losses {
  drop(what: LossName): void;
  approximate(what: LossName): void;
  /** What only another protocol's client has. @throws Unconvertible */
  ofClient(name: string, ifForeign: Extension['ifForeign']): void;
  /** The same, said in words. */
  inWords(name: string): void;
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
    ofClient(name, ifForeign) {
      if (ifForeign === 'refuse') {
        const reason = `${name} cannot be carried to the upstream of this model`;
        throw Unconvertible.ofClient(name, reason);
      }
      if (ifForeign === 'drop') add(name, 'dropped');
    },
    inWords: (name) => add(name, 'approximated'),
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
