import { type BodyPool, valueOf } from '#body-work/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';
import type { SendingParts } from '../attempts/tries.ts';
import { callOnBody } from '../attempts/in-thread.ts';
import type { ExchangeInput, ExchangeParts } from '../exchange.ts';
import { namedRoutes } from '../admission/find-model.ts';
import type { CheckedRequest, OpenedRequest, ResolvedModel } from '../operation.ts';
import { requireOffered } from '../admission/offered-terms.ts';

type OpenedEmbed = OpenedRequest<EmbedInput, CheckedEmbed>;

/** Reads a request up to its model. @throws GatewayError, ClientGone */
export function openEmbed(
  parts: Pick<EmbedParts, 'bodies' | 'ticker'>,
  input: EmbedInput,
): OpenedEmbed | Promise<OpenedEmbed> {
  const opening = callOnBody(parts, input, 'openEmbeddings', {});
  const checkable = ({ model, request }: Awaited<typeof opening>): OpenedEmbed => ({
    model,
    check: (_exchange, resolvedModel) => checkEmbed(input, resolvedModel, valueOf(request)),
  });
  return opening instanceof Promise ? opening.then(checkable) : checkable(opening);
}

/**
 * @throws GatewayError for an extra that costs money at the upstream and has no price, such as further models that may
 * respond.
 */
function checkEmbed(
  input: EmbedInput,
  resolvedModel: ResolvedModel,
  request: EmbeddingsRequest,
): CheckedEmbed {
  const { terms } = request;
  if (terms.length > 0)
    requireOffered(terms, resolvedModel.model, namedRoutes(input, resolvedModel));
  return { resolvedModel, request };
}

export interface CheckedEmbed extends CheckedRequest {
  readonly request: EmbeddingsRequest;
}

/** A checked request and the routes that can serve it. */
export interface PreparedEmbed {
  readonly request: EmbeddingsRequest;
  readonly model: Model;
  /** In the order to try them. */
  readonly routes: readonly Route[];
}

/** A request for embeddings. */
export interface EmbedInput extends ExchangeInput {
  readonly protocol: 'embeddings';
  readonly operation: 'embed';
}

/** What the operation of embeddings needs. */
export interface EmbedParts extends ExchangeParts, SendingParts {
  /** Reads large requests and responses in threads. */
  readonly bodies: BodyPool;
}
