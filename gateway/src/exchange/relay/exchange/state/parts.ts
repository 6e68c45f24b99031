import type { StateKind } from '#protocols/index.ts';
import type { StateDirectory } from '#upstream-state/index.ts';

/** What it takes to judge who may name the ids of upstream state. */
export interface StateParts {
  readonly upstreamState: StateDirectory;
  /** Called when an id was refused for a channel: the operator may have to share the state that it names. */
  readonly onRefusedState: (refused: RefusedState) => void;
}

/** It does not reveal whose id it is. */
export interface RefusedState {
  readonly requestId: string;
  /** The channel's name. */
  readonly channel: string;
  readonly kind: StateKind;
  /** The digest of the id. */
  readonly digest: string;
}
