import type {
  Block,
  GenerationRequest,
  NativeState,
  TextProtocolName,
  ToolCallBlock,
  Turn,
} from '../../canonical/index.ts';
import type { LossList } from '../losses.ts';
import { openFromClient } from './client-state.ts';
import {
  belongsTo,
  type SealedState,
  signedText,
  type StateOwner,
  type StatePlace,
  type StateSigner,
} from './envelope.ts';
import type { StateStore } from './state-store.ts';

export interface StateTarget {
  readonly owner: StateOwner;
  readonly protocol: TextProtocolName;
  readonly keyId: string;
}

/**
 * Gives the upstream its own reasoning state back, from envelopes or from memory. What another vendor or model made
 * is taken off: a foreign signature is a certain refusal. Reasoning text stays; an upstream that wants none of it
 * without its state is the encoder's to know.
 */
export function restoreState(
  request: GenerationRequest,
  target: StateTarget,
  signer: StateSigner,
  store: StateStore,
  losses: LossList,
): GenerationRequest {
  const turns = request.turns.map((turn): Turn => {
    if (turn.role !== 'assistant' || !turn.blocks.some(isStateful)) return turn;
    const opened = openBlocks(turn.blocks, target, signer, losses);
    return { ...turn, blocks: addKept(opened, target, store) };
  });
  return { ...request, turns };
}

function isStateful({ type, state }: Block): boolean {
  return state !== undefined || type === 'tool-call';
}

function openBlocks(
  blocks: readonly Block[],
  target: StateTarget,
  signer: StateSigner,
  losses: LossList,
): Block[] {
  const result: Block[] = [];
  let forNext: NativeState | null = null;
  for (const block of blocks) {
    const { state, place } = openOne(block, target, signer, losses);
    const { state: _, ...bare } = block;
    if (place === 'own') {
      const own: NativeState | null = state ?? forNext;
      forNext = null;
      if (block.type === 'reasoning' && block.text === '' && own === null) continue;
      result.push(block.state === undefined && own === null ? block : withState(bare, own));
      continue;
    }
    // A block that only carried the state of its neighbour is gone with it; one with text is a thought.
    if (block.type === 'reasoning' && block.text !== '') result.push(bare);
    if (place === 'next') forNext = state;
    else if (state !== null) {
      const previous = result.pop();
      if (previous !== undefined) result.push(withState(previous, state));
    }
  }
  return result;
}

interface Opened {
  readonly state: NativeState | null;
  readonly place: StatePlace;
}

function openOne(
  block: Block,
  { owner, protocol }: StateTarget,
  signer: StateSigner,
  losses: LossList,
): Opened {
  const { state } = block;
  if (state === undefined) return nothing;
  const sealed = openFromClient(signer, state);
  // Put there for a client that wants every thought signed.
  if (sealed?.state.data === '') return nothing;
  const isWhole = sealed !== null && signsText(sealed, block);
  if (isWhole && belongsTo(sealed, owner, protocol)) {
    return { state: sealed.state, place: sealed.place };
  }
  losses.dropped('reasoning.state');
  return { state: null, place: sealed?.place ?? 'own' };
}

/** The thought came back as it went out. */
function signsText({ state, text }: SealedState, block: Block): boolean {
  return text === null || text === signedText(state, block.type === 'reasoning' ? block.text : '');
}

const nothing: Opened = Object.freeze({ state: null, place: 'own' });

function withState<B extends Block>(block: B, state: NativeState | null): B {
  return state === null ? block : { ...block, state };
}

/** What the client did not give back, from memory. */
function addKept(
  blocks: readonly Block[],
  { owner, protocol, keyId }: StateTarget,
  store: StateStore,
): Block[] {
  let isSigned = blocks.some((block) => block.type === 'reasoning' && block.state !== undefined);
  return blocks.flatMap((block): Block[] => {
    if (block.type !== 'tool-call' || block.id === null || block.state !== undefined)
      return [block];
    const kept = store.find(keyId, block.id);
    if (kept === null) return [block];
    const isOwn = (state: NativeState | null | undefined): state is NativeState =>
      state != null && belongsTo({ owner: kept.owner, state }, owner, protocol);
    const call: ToolCallBlock = isOwn(kept.call) ? { ...block, state: kept.call } : block;
    const reasoning = isSigned ? [] : kept.reasoning.filter(({ state }) => isOwn(state));
    if (reasoning.length > 0) isSigned = true;
    return [...reasoning, call];
  });
}
