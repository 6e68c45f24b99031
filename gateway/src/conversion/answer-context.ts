import type { NativeState } from '../canonical/index.ts';
import type { AnswerContext, Codec } from '../protocols/index.ts';
import { sealForClient } from './state/client-state.ts';
import type { StateOwner, StatePlace, StateSigner } from './state/envelope.ts';
import type { StateStore } from './state/state-store.ts';
import type { ToolNames } from './tools/tool-names.ts';

/** What turns an upstream's answer into the client's: fixed when the request was encoded. */
export interface AnswerPasses {
  readonly answer: AnswerContext;
  readonly upstream: Codec;
  readonly client: Codec;
  readonly names: ToolNames;
  readonly owner: StateOwner;
  readonly keyId: string;
  readonly signer: StateSigner;
  readonly store: StateStore;
}

/** The state in an envelope of the client's kind; null when its protocol has no place for any. */
export function sealed(
  { client, signer, owner }: AnswerPasses,
  state: NativeState,
  place: StatePlace,
): NativeState | null {
  return client.traits.state === 'none'
    ? null
    : sealForClient(signer, client.name, owner, state, place);
}
