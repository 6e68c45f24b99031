import type {
  Block,
  GenerationRequest,
  Turn,
  TextProtocolName,
  LossList,
} from '#canonical/index.ts';
import { textFacts } from '#protocols/index.ts';

/**
 * Instructions between the turns, for upstreams of chat and responses. Templates of open models refuse them ("System
 * message must be at the beginning.", https://github.com/vllm-project/vllm/issues/41114), so they become the user's
 * words where the upstream is not known to take them. Empty ones are left out everywhere.
 * @param takes the upstream takes them, or its encoder places them
 */
export function placeSystemTurns(
  request: GenerationRequest,
  takes: boolean,
  losses: LossList,
): GenerationRequest {
  if (!request.turns.some(({ role }) => role === 'system')) return request;
  const turns = request.turns.flatMap((turn): Turn[] => {
    if (turn.role !== 'system') return [turn];
    if (turn.blocks.every(isNothing)) {
      if (turn.blocks.some(({ cache }) => cache !== undefined)) losses.dropped('cache');
      return [];
    }
    if (takes) return [turn];
    losses.approximated('system');
    return [{ ...turn, role: 'user' }];
  });
  return { ...request, turns };
}

/** Whether the block says nothing. */
export function isNothing(block: Block): boolean {
  return block.type === 'text' && block.text.trim() === '' && block.state === undefined;
}

/** Few protocols accept instructions without a conversation; the others require a user message. */
export function moveLoneInstructions(
  request: GenerationRequest,
  upstream: TextProtocolName,
  losses: LossList,
): GenerationRequest {
  const { system, turns } = request;
  if (textFacts[upstream].takesLoneInstructions || system.length === 0) return request;
  if (!turns.every(({ blocks }) => blocks.every(isNothing))) return request;
  losses.approximated('system');
  return { ...request, system: [], turns: [{ role: 'user', blocks: system }] };
}

const hint = 'Answer with one JSON object and nothing else.';

/** Adds the word that JSON mode requires, for a client whose own protocol does not require it. */
export function addJsonInstruction(
  request: GenerationRequest,
  upstream: TextProtocolName,
  losses: LossList,
): GenerationRequest {
  if (request.format?.type !== 'json' || !textFacts[upstream].wantsJsonWord || saysJson(request)) {
    return request;
  }
  losses.approximated('response_format');
  return { ...request, system: [...request.system, { type: 'text', text: hint }] };
}

function saysJson({ system, turns }: GenerationRequest): boolean {
  return system.some(isSaid) || turns.some(({ blocks }) => blocks.some(isSaid));
}

function isSaid(block: Block): boolean {
  return block.type === 'text' && /json/i.test(block.text);
}
