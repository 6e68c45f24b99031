import {
  type Extension,
  type Extensions,
  type Loss,
  type LossName,
  Unconvertible,
} from '../../canonical/index.ts';

/** Notes down what does not arrive. */
export interface LossNotes {
  dropped(what: LossName): void;
  approximated(what: LossName): void;
  /** What only another protocol's client has. @throws Unconvertible */
  ofClient(name: string, ifForeign: Extension['ifForeign']): void;
  /** The same, said in words. */
  inWords(name: string): void;
  all(): readonly Loss[];
}

/** The losses of one request, each name once. */
export function createLossNotes(): LossNotes {
  const losses = new Map<string, Loss>();
  const add = (what: string, how: Loss['how']): void =>
    void losses.set(`${how} ${what}`, { what, how });
  return {
    dropped: (what) => add(what, 'dropped'),
    approximated: (what) => add(what, 'approximated'),
    ofClient(name, ifForeign) {
      if (ifForeign === 'refuse') throw Unconvertible.ofClient(name, unavailable(`'${name}'`));
      if (ifForeign === 'drop') add(name, 'dropped');
    },
    inWords: (name) => add(name, 'approximated'),
    all: () => [...losses.values()],
  };
}

/**
 * What other protocols' clients attached to something.
 * @throws Unconvertible when the answer would be another one without it.
 */
export function noteForeign(extensions: Extensions | undefined, losses: LossNotes): void {
  if (extensions === undefined) return;
  for (const { protocol, name, ifForeign } of extensions) {
    if (protocol !== 'responses') losses.ofClient(name, ifForeign);
  }
}

export function notAvailable(what: LossName, thing: string): Unconvertible {
  return new Unconvertible(what, unavailable(thing));
}

function unavailable(thing: string): string {
  return `${thing} is not available with this model, please leave it out`;
}
