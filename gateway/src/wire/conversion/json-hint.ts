import type { Block, GenerationRequest, TextProtocolName } from '#canonical/index.ts';
import type { LossList } from './losses.ts';

/**
 * The JSON mode of these protocols is refused if no message contains the word
 * (https://platform.openai.com/docs/guides/structured-outputs).
 */
const demanding: ReadonlySet<TextProtocolName> = new Set(['chat', 'responses']);

const hint = 'Answer with one JSON object and nothing else.';

/** Adds the word that JSON mode requires, for a client whose own protocol does not require it. */
export function addJsonInstruction(
  request: GenerationRequest,
  upstream: TextProtocolName,
  losses: LossList,
): GenerationRequest {
  if (request.format?.type !== 'json' || !demanding.has(upstream) || saysJson(request)) {
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
