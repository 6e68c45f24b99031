import { embeddings } from '#protocols/index.ts';
import { findCandidates } from '#routing/index.ts';
import type { AttemptParts } from '../attempts/parts.ts';
import type { Operation } from '../exchange/operation.ts';
import type { ExchangeParts } from '../exchange/parts.ts';
import { routeQueryOf } from '../exchange/route-query.ts';
import { answerEmbed } from './answer-embed.ts';
import { boundEmbed } from './bound-embed.ts';
import type { EmbedInput } from './input.ts';
import type { CheckedEmbed, PreparedEmbed } from './prepared.ts';

/** Turns texts into vectors. Only one protocol has embeddings, so nothing is converted, and nothing is streamed. */
export function createEmbedOperation(
  parts: ExchangeParts & AttemptParts,
): Operation<EmbedInput, CheckedEmbed, PreparedEmbed> {
  return {
    modelType: 'embedding',
    isFree: false,
    mayStream: false,
    open({ body, memory }) {
      const opened = embeddings.openRequest(body, memory);
      return {
        model: opened.model,
        check: (_exchange, resolved) => ({ resolved, request: embeddings.readRequest(opened) }),
      };
    },
    bound: (_exchange, { request, resolved }, rates) => boundEmbed(request, resolved.model, rates),
    prepare({ input }, { request, resolved }) {
      const query = routeQueryOf(input, resolved);
      const routes = findCandidates(resolved.snapshot, query, parts.random);
      return { request, model: resolved.model, routes };
    },
    answer: (exchange, prepared) => answerEmbed(parts, exchange, prepared),
  };
}
