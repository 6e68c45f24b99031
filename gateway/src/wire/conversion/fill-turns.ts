import type { Block, GenerationRequest, TextProtocolName, Turn } from '#canonical/index.ts';
import { isNothing } from './instructions.ts';

/** The content of an empty turn that cannot be left out. */
const placeholder: Block = Object.freeze({ type: 'text', text: '(no content)' });

/**
 * Leaves out turns that say nothing, for example those that carry only a client's control words, and gives the user's a
 * text where it stands between, before or behind the model's: upstreams refuse empty messages, and without it the model
 * would go on with its own last words. Names the repair `b12`.
 */
export function fillEmptyTurns(
  request: GenerationRequest,
  upstream: TextProtocolName,
  note: (repair: 'b12') => void,
): GenerationRequest {
  const isEmpty = ({ role, blocks }: Turn): boolean =>
    role !== 'system' &&
    blocks.every((block) => isNothing(block) || (role === 'user' && isForeign(block, upstream)));
  if (!request.turns.some(isEmpty)) return request;
  const turns: Turn[] = [];
  for (const [at, turn] of request.turns.entries()) {
    if (!isEmpty(turn)) {
      turns.push(turn);
      continue;
    }
    note('b12');
    // What is lost with the rest of the turn is still to be reported.
    const rest = turn.blocks.filter((block) => !isNothing(block));
    if (rest.length > 0 || isNeeded(turn, turns.at(-1), request.turns[at + 1])) {
      turns.push({ ...turn, blocks: [...rest, placeholder] });
    }
  }
  return { ...request, turns };
}

/** Whether the encoder of the upstream leaves it out. */
function isForeign(block: Block, upstream: TextProtocolName): boolean {
  return (
    block.type === 'opaque' &&
    block.protocol !== upstream &&
    block.text === undefined &&
    block.ifForeign !== 'refuse'
  );
}

/** Whether, without this user's turn, model turns would be adjacent, or one would be the first or the last. */
function isNeeded(
  { role }: Turn,
  previous: Turn | undefined,
  following: Turn | undefined,
): boolean {
  return role === 'user' && previous?.role !== 'user' && following?.role !== 'user';
}
