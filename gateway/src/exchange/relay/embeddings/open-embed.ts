import { valueOf } from '#body-work/index.ts';
import type { EmbeddingsRequest } from '#protocols/index.ts';
import { callOnBody } from '../attempts/in-thread.ts';
import { namedRoutes, type ResolvedModel } from '../exchange/find-model.ts';
import { requireOffered } from '../exchange/offered-terms.ts';
import type { OpenedRequest } from '../exchange/operation.ts';
import type { CheckedEmbed, EmbedInput, EmbedParts } from './prepared.ts';

type OpenedEmbed = OpenedRequest<EmbedInput, CheckedEmbed>;

/** Reads a request up to its model. @throws GatewayError, ClientGone */
export function openEmbed(
  parts: Pick<EmbedParts, 'bodies' | 'ticker'>,
  input: EmbedInput,
): OpenedEmbed | Promise<OpenedEmbed> {
  const opening = callOnBody(parts, input, 'openEmbeddings', {});
  const checkable = ({ model, request }: Awaited<typeof opening>): OpenedEmbed => ({
    model,
    check: (_exchange, resolved) => checkEmbed(input, resolved, valueOf(request)),
  });
  return opening instanceof Promise ? opening.then(checkable) : checkable(opening);
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
