import type { NativeState } from '#canonical/index.ts';

export interface SealedState {
  /** Who can read it: `makerId`. */
  readonly maker: string;
  readonly state: NativeState;
  /** Its original place, relative to the reasoning block that carries it now. */
  readonly place: StatePlace;
  /** Identifies the signed text; null if it signs none, or the text does not matter. */
  readonly text: string | null;
}

export type StatePlace = 'own' | 'next' | 'previous';
