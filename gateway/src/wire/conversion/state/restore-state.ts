import type {
  Block,
  GenerationRequest,
  NativeState,
  TextBlock,
  TextProtocolName,
  ToolCallBlock,
  Turn,
  LossList,
} from '#canonical/index.ts';
import { textFacts } from '#protocols/index.ts';
import {
  openFromClient,
  type Sealing,
  signedText,
  type SealedState,
  type StatePlace,
} from './envelope.ts';
import type { StateStore } from './state-store.ts';
import { callKey, placeOf, textKey } from './state-keeper.ts';

export interface StateTarget {
  /** Whose state the upstream reads: `makerId`. */
  readonly maker: string;
  readonly protocol: TextProtocolName;
}

/**
 * Returns the upstream's own reasoning state to it, from envelopes or from memory. State of another vendor or model is
 * removed, because a foreign signature is always refused. Reasoning text stays; the encoder knows whether the upstream
 * accepts it without its state.
 */
export function restoreState(
  request: GenerationRequest,
  target: StateTarget,
  sealing: Sealing,
  store: StateStore,
  losses: LossList,
): GenerationRequest {
  const turns = request.turns.map((turn, at): Turn => {
    if (turn.role !== 'assistant') return turn;
    if (!turn.blocks.some((block) => isStateful(block) || maySign(block, target))) return turn;
    const openedBlocks = openBlocks(turn.blocks, target, sealing, losses);
    return {
      ...turn,
      blocks: addKept(openedBlocks, target, sealing.owner, store, placeOf(request.turns, at)),
    };
  });
  return { ...request, turns };
}

function isStateful({ type, state }: Block): boolean {
  return state !== undefined || type === 'tool-call';
}

/** Whether the target's models sign such a block. */
function maySign(block: Block, { protocol }: StateTarget): block is TextBlock {
  return block.type === 'text' && block.text !== '' && textFacts[protocol].state.signsTexts;
}

/** Under which names state is remembered that may belong to this conversation. */
export function rememberedNames(
  request: Pick<GenerationRequest, 'turns'>,
  target: StateTarget,
): string[] {
  return request.turns.flatMap(({ role, blocks }, at) =>
    role !== 'assistant'
      ? []
      : blocks.flatMap((block) => {
          if (block.type === 'tool-call') {
            return block.id === null ? [] : [callKey(placeOf(request.turns, at), block.id)];
          }
          return maySign(block, target) ? [textKey(placeOf(request.turns, at), block.text)] : [];
        }),
  );
}

function openBlocks(
  blocks: readonly Block[],
  target: StateTarget,
  sealing: Sealing,
  losses: LossList,
): Block[] {
  const result: Block[] = [];
  let forNext: NativeState | null = null;
  for (const block of blocks) {
    const { state, place } = openOne(block, target, sealing, losses);
    const { state: _, ...bare } = block;
    if (place === 'own') {
      const own: NativeState | null = state ?? forNext;
      forNext = null;
      if (block.type === 'reasoning' && block.text === '' && own === null) continue;
      result.push(block.state === undefined && own === null ? block : withState(bare, own));
      continue;
    }
    // A block that only carried its neighbour's state disappears with it; a block with text is reasoning.
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

function openOne(block: Block, target: StateTarget, sealing: Sealing, losses: LossList): Opened {
  const { state } = block;
  if (state === undefined) return nothing;
  const openedState = openFromClient(sealing, state);
  // Added for a client that requires every reasoning block to be signed.
  if (openedState?.state.data === '') return nothing;
  const isWhole = openedState !== null && signsText(openedState, block);
  if (isWhole && isReadable(openedState, target)) {
    return { state: openedState.state, place: openedState.place };
  }
  // What marks a text as its maker's is nothing to another model.
  if (openedState?.state.kind !== 'reasoning-content') losses.dropped('reasoning.state');
  return { state: null, place: openedState?.place ?? 'own' };
}

/** Whether the target accepts this state as its own. */
function isReadable(
  { maker, state }: Pick<SealedState, 'maker' | 'state'>,
  target: StateTarget,
): boolean {
  return state.protocol === target.protocol && maker === target.maker;
}

/** Whether the reasoning text came back unchanged. */
function signsText({ state, text }: SealedState, block: Block): boolean {
  return text === null || text === signedText(state, block.type === 'reasoning' ? block.text : '');
}

const nothing: Opened = Object.freeze({ state: null, place: 'own' });

function withState<B extends Block>(block: B, state: NativeState | null): B {
  return state === null ? block : { ...block, state };
}

/** Adds remembered state that the client did not return. */
function addKept(
  blocks: readonly Block[],
  target: StateTarget,
  owner: string,
  store: StateStore,
  place: string,
): Block[] {
  let isSigned = blocks.some((block) => block.type === 'reasoning' && block.state !== undefined);
  return blocks.flatMap((block): Block[] => {
    if (block.state === undefined && maySign(block, target)) {
      const keptState = store.find(owner, textKey(place, block.text));
      const state = keptState?.call ?? null;
      const isOwn =
        keptState !== null && state !== null && isReadable({ ...keptState, state }, target);
      return [isOwn ? { ...block, state } : block];
    }
    if (block.type !== 'tool-call' || block.id === null || block.state !== undefined)
      return [block];
    const keptState = store.find(owner, callKey(place, block.id));
    if (keptState === null) return [block];
    const isOwn = (state: NativeState | null | undefined): state is NativeState =>
      state != null && isReadable({ maker: keptState.maker, state }, target);
    const call: ToolCallBlock = isOwn(keptState.call) ? { ...block, state: keptState.call } : block;
    const reasoning = isSigned ? [] : keptState.reasoning.filter(({ state }) => isOwn(state));
    if (reasoning.length > 0) isSigned = true;
    return [...reasoning, call];
  });
}
