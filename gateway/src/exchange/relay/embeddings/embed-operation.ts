import { findCandidates } from '#routing/index.ts';
import type { Operation } from '../exchange/operation.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import { answerEmbed } from './answer-embed.ts';
import { boundEmbed } from './bound-embed.ts';
import type { EmbedInput } from './input.ts';
import { openEmbed } from './open-embed.ts';
import type { EmbedParts } from './parts.ts';
import type { CheckedEmbed, PreparedEmbed } from './prepared.ts';

/** Turns texts into vectors. Only one protocol has embeddings, so nothing is converted, and nothing is streamed. */
export function createEmbedOperation(
  parts: EmbedParts,
): Operation<EmbedInput, CheckedEmbed, PreparedEmbed> {
  return {
    modelType: 'embedding',
    isFree: false,
    mayStream: false,
    open: (input) => openEmbed(parts, input),
    bound: (_exchange, { request, resolved }, rates) => boundEmbed(request, resolved.model, rates),
    prepare({ input }, { request, resolved }) {
      const query = routeQueryOf(input, resolved);
      const routes = findCandidates(resolved.snapshot, query, parts.random);
      return { request, model: resolved.model, routes };
    },
    answer: (exchange, prepared) => answerEmbed(parts, exchange, prepared),
  };
}
