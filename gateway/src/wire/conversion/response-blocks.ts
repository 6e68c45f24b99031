import type { Block, Candidate, GenerationResponse, NativeState } from '#canonical/index.ts';
import { textFacts } from '#protocols/index.ts';
import {
  emptySignature,
  clientEnvelope,
  takesCarriers,
  type ResponsePasses,
  settledFinish,
} from './response-context.ts';
import type { StatePlace } from './state/envelope.ts';
import { StateKeeper } from './state/state-keeper.ts';
import { responseCallId } from './tools/call-ids.ts';
import { InputWrapper, takesText, unwrapInput } from './tools/custom-input.ts';

/** Rewrites a complete upstream response for the client: the tools' names, the ids, and the kind of state. */
export function passResponse(
  passes: ResponsePasses,
  response: GenerationResponse,
): GenerationResponse {
  const candidates = response.candidates.map((candidate, choice) =>
    passCandidate(passes, candidate, choice),
  );
  return { ...response, candidates };
}

function passCandidate(passes: ResponsePasses, candidate: Candidate, choice: number): Candidate {
  passes.losses.candidate(choice);
  const keeper = new StateKeeper(passes.sealing.owner, passes.maker, passes.store, passes.place);
  const blocks: Block[] = [];
  let calls = 0;
  for (const block of candidate.blocks) {
    passes.losses.block(block);
    if (block.type === 'tool-call') {
      const call = passCall(passes, block, choice, calls);
      calls += 1;
      keeper.call(call.id, block.state);
      const isBare = block.state === undefined && calls === 1;
      const empty = isBare ? emptySignature(passes, 'first call') : null;
      if (empty !== null) blocks.push({ ...call, state: empty });
      else blocks.push(...withSealedState(passes, call, block.state, 'next'));
      continue;
    }
    if (block.type === 'reasoning') {
      keeper.close();
      keeper.reasoning(block.text);
      if (block.state !== undefined) keeper.state(block.state);
    }
    const { state, ...bare } = block;
    if (block.type === 'text' && state !== undefined) {
      if (textFacts[passes.upstream.name].state.signsTexts) keeper.text(block.text, state);
      if (passes.client.traits.state !== 'block' && !takesCarriers(passes)) {
        blocks.push(bare);
        continue;
      }
    }
    // Before its block: clients take a response that ends in reasoning for one that says nothing.
    blocks.push(
      ...withSealedState(passes, bare, state, block.type === 'reasoning' ? 'own' : 'next'),
    );
  }
  passes.losses.finish(candidate.finish);
  return { blocks, finish: settledFinish(candidate.finish, calls) };
}

function passCall(
  { clientTools, client, context }: ResponsePasses,
  block: Extract<Block, { type: 'tool-call' }>,
  choice: number,
  at: number,
) {
  const tool = clientTools.get(block.name);
  const unwraps = tool?.kind === 'custom' && block.kind === 'function';
  const wraps = block.kind === 'custom' && !takesText(tool?.kind, client);
  const { state: _, ...bare } = block;
  return {
    ...bare,
    id: responseCallId(block.id, client.traits, context.requestId, choice, at),
    ...(tool?.item !== undefined && { item: tool.item }),
    name: tool?.name ?? block.name,
    namespace: tool === undefined ? block.namespace : tool.namespace,
    kind: wraps ? 'function' : (tool?.kind ?? block.kind),
    arguments: wraps
      ? wrapInputText(block.arguments)
      : unwraps
        ? unwrapInput(block.arguments)
        : block.arguments,
  };
}

function wrapInputText(text: string): string {
  const wrapper = new InputWrapper();
  return wrapper.push(text) + wrapper.end();
}

/**
 * Returns the block with its state on it, beside it in a reasoning block, or without it: whatever the client's protocol
 * can express.
 */
export function withSealedState(
  passes: ResponsePasses,
  block: Block,
  state: NativeState | undefined,
  place: StatePlace,
): Block[] {
  if (state === undefined) {
    const empty = block.type === 'reasoning' ? emptySignature(passes, 'thought') : null;
    return [empty === null ? block : { ...block, state: empty }];
  }
  const { client } = passes;
  const sitsOnBlock = place === 'own' || client.traits.state === 'block';
  const text = block.type === 'reasoning' ? block.text : '';
  const envelope = clientEnvelope(passes, state, sitsOnBlock ? 'own' : place, text);
  if (envelope === null) return block.type === 'reasoning' && block.text === '' ? [] : [block];
  if (sitsOnBlock) return [{ ...block, state: envelope }];
  const carrier: Block = { type: 'reasoning', text: '', state: envelope };
  return place === 'next' ? [carrier, block] : [block, carrier];
}
