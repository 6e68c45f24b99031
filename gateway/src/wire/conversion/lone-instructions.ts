import type { GenerationRequest, TextProtocolName } from '#canonical/index.ts';
import type { LossList } from './losses.ts';
import { isNothing } from './system-turns.ts';

/** Chat accepts instructions without a conversation; the other protocols require a user message. */
export function moveLoneInstructions(
  request: GenerationRequest,
  upstream: TextProtocolName,
  losses: LossList,
): GenerationRequest {
  const { system, turns } = request;
  if (upstream === 'chat' || system.length === 0) return request;
  if (!turns.every(({ blocks }) => blocks.every(isNothing))) return request;
  losses.approximated('system');
  return { ...request, system: [], turns: [{ role: 'user', blocks: system }] };
}
