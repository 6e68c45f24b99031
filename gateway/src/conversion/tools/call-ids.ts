import {
  Unconvertible,
  type GenerationRequest,
  type ToolCallBlock,
  type ToolResultBlock,
} from '../../canonical/index.ts';
import { type CodecTraits, digest } from '../../protocols/index.ts';
import { mapBlocks } from '../map-blocks.ts';

type Traits = Pick<CodecTraits, 'toolId' | 'toolIdLength'>;

/**
 * Gives every call an id that the upstream takes, and every result the id of its call. Ids are made from their place
 * in the history, so that the same history gives the same ones and prompt caches stay warm. A result without an id
 * belongs to the first call of its name that has none yet, or to the next call when it has no name either.
 * @throws Unconvertible for a result without a call.
 */
export function assignCallIds(request: GenerationRequest, traits: Traits): GenerationRequest {
  let waiting: { readonly id: string; readonly name: string }[] = [];
  return mapBlocks(request, (block, turn, at) => {
    if (block.type === 'tool-call') {
      const call = { ...block, id: callId(block, traits, turn, at) };
      waiting.push({ id: call.id, name: call.name });
      return call;
    }
    if (block.type !== 'tool-result') return block;
    if (block.id !== null) {
      const id = acceptedId(block.id, traits);
      waiting = waiting.filter((call) => call.id !== id);
      return { ...block, id };
    }
    const found = waiting.find(({ name }) => block.name === null || name === block.name);
    if (found === undefined) throw unmatched(block);
    waiting = waiting.filter((call) => call !== found);
    return { ...block, id: found.id, name: block.name ?? found.name };
  });
}

/** The id that a call of the upstream's answer has for a client. */
export function answerCallId(
  id: string | null,
  traits: Traits,
  ...place: readonly (string | number)[]
): string {
  return id === null || id === '' ? minted(...place) : acceptedId(id, traits);
}

function callId(block: ToolCallBlock, traits: Traits, turn: number, at: number): string {
  return answerCallId(block.id, traits, turn, at, block.name);
}

function acceptedId(id: string, { toolId, toolIdLength }: Traits): string {
  const isAccepted = toolId === null || (id.length <= toolIdLength && toolId.test(id));
  return isAccepted ? id : minted(id);
}

function minted(...parts: readonly (string | number)[]): string {
  return `call_${digest(24, ...parts)}`;
}

function unmatched({ name }: ToolResultBlock): Unconvertible {
  const which = name === null ? 'a tool result' : `the result of '${name}'`;
  return new Unconvertible('tool_result', `${which} does not belong to any call before it`);
}
