import { type Extensions, type Loss, Unconvertible } from '../../canonical/index.ts';

/** Notes down what does not arrive. */
export interface LossNotes {
  dropped(what: string): void;
  approximated(what: string): void;
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
    if (protocol === 'responses' || ifForeign === 'ignore') continue;
    if (ifForeign === 'refuse') throw notAvailable(name);
    losses.dropped(name);
  }
}

export function notAvailable(what: string, thing = `'${what}'`): Unconvertible {
  return new Unconvertible(what, `${thing} is not available with this model, please leave it out`);
}
