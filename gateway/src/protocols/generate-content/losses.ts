import { type Extension, type Loss, type LossName, Unconvertible } from '../../canonical/index.ts';

/** What does not arrive as it was written, each thing once. */
export interface Losses {
  dropped(what: LossName): void;
  approximated(what: LossName): void;
  /** Something that only another protocol understands. @throws Unconvertible */
  foreign(name: string, fate: Extension['ifForeign']): void;
  /** The same, said in words. */
  inWords(name: string): void;
  readonly list: () => readonly Loss[];
}

export function createLosses(): Losses {
  const found = new Map<string, Loss['how']>();
  const approximated = (what: string): void => {
    if (!found.has(what)) found.set(what, 'approximated');
  };
  return {
    dropped: (what) => void found.set(what, 'dropped'),
    approximated,
    inWords: approximated,
    foreign(name, fate) {
      if (fate === 'refuse') {
        const reason = `${name} is not available with this model, please remove it`;
        throw Unconvertible.ofClient(name, reason);
      }
      if (fate === 'drop') found.set(name, 'dropped');
    },
    list: () => [...found].map(([what, how]) => ({ what, how })),
  };
}
