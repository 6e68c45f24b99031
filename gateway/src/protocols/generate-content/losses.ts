import { type Extension, type Loss, Unconvertible } from '../../canonical/index.ts';

/** What does not arrive as it was written, each thing once. */
export interface Losses {
  dropped(what: string): void;
  approximated(what: string): void;
  /** Something that only another protocol understands. @throws Unconvertible */
  foreign(what: string, fate: Extension['ifForeign']): void;
  readonly list: () => readonly Loss[];
}

export function createLosses(): Losses {
  const found = new Map<string, Loss['how']>();
  const dropped = (what: string): void => void found.set(what, 'dropped');
  return {
    dropped,
    approximated(what) {
      if (!found.has(what)) found.set(what, 'approximated');
    },
    foreign(what, fate) {
      if (fate === 'refuse') {
        throw new Unconvertible(what, `${what} is not available with this model, please remove it`);
      }
      if (fate === 'drop') dropped(what);
    },
    list: () => [...found].map(([what, how]) => ({ what, how })),
  };
}
