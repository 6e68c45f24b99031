import { type EmbedFacts, errorOf, isPlainError } from '#body-work/index.ts';
import { embeddings, type EmbeddingsRequest } from '#protocols/index.ts';
import { isReadInThread, runOnBody } from '../attempts/in-thread.ts';
import { namedRoutes, type ResolvedModel } from '../exchange/find-model.ts';
import { requireOffered } from '../exchange/offered-terms.ts';
import type { OpenedRequest } from '../exchange/operation.ts';
import type { CheckedEmbed, EmbedInput, EmbedParts } from './prepared.ts';

type OpenedEmbed = OpenedRequest<EmbedInput, CheckedEmbed>;

/**
 * Reads a request up to its model: here, or in a thread if it is large.
 * @throws GatewayError, ClientGone
 */
export function openEmbed(
  parts: Pick<EmbedParts, 'bodies' | 'ticker'>,
  input: EmbedInput,
): OpenedEmbed | Promise<OpenedEmbed> {
  if (isReadInThread(input.body)) return openLarge(parts, input);
  const opened = embeddings.openRequest(input.body, input.memory);
  return {
    model: opened.model,
    check: (_exchange, resolved) => checkEmbed(input, resolved, embeddings.readRequest(opened)),
  };
}

async function openLarge(
  { bodies, ticker }: Pick<EmbedParts, 'bodies' | 'ticker'>,
  input: EmbedInput,
): Promise<OpenedEmbed> {
  const running = bodies.run(input.caller.keyId, { kind: 'embed-read', body: input.body });
  const { model, facts } = await runOnBody(ticker, input, running);
  return {
    model,
    check(_exchange, resolved) {
      if (isPlainError(facts)) throw errorOf(facts);
      return checkEmbed(input, resolved, requestOf(model, facts, input.body));
    },
  };
}

/**
 * @throws GatewayError for an extra that costs money at the upstream and has no price, such as further models that may
 * respond.
 */
function checkEmbed(
  input: EmbedInput,
  resolved: ResolvedModel,
  request: EmbeddingsRequest,
): CheckedEmbed {
  const { terms } = request;
  if (terms.length > 0) requireOffered(terms, resolved.model, namedRoutes(input, resolved));
  return { resolved, request };
}

/** The request with only the names of its members: the values exist only in threads. */
function requestOf(
  model: string,
  { members, ...rest }: EmbedFacts,
  body: Buffer,
): EmbeddingsRequest {
  const named: Record<string, unknown> = Object.create(null) as Record<string, unknown>;
  for (const name of members) named[name] = undefined;
  return { ...rest, body, model, members: named };
}
