import { isPriced, resolveModel, type Model, type Route } from '../catalogue/index.ts';
import { GatewayError } from '../errors/index.ts';
import type { WireRequest } from '../protocols/index.ts';
import { conversationOf, findCandidates, type Conversation } from '../routing/index.ts';
import type { ExchangeState } from './exchange-state.ts';
import type { RelayParts } from './parts.ts';

/** A checked request and the ways to answer it, found once for all attempts. */
export interface Prepared {
  readonly request: WireRequest;
  readonly model: Model;
  /** In the order to try them. */
  readonly routes: readonly Route[];
  /** Null when there is only one way, so that nothing depends on it. */
  readonly conversation: Conversation | null;
}

/**
 * The checks between the body and the first attempt, in the documented order: model named, allowed for the key,
 * enabled, priced; required fields; a channel.
 * @throws GatewayError
 */
export function prepare(parts: RelayParts, state: ExchangeState): Prepared {
  const { input } = state;
  const { caller } = input;
  const protocol = parts.protocols[input.protocol];
  const opened = protocol.openRequest(input.body, {
    operation: input.operation,
    model: input.pathModel,
    stream: input.pathStream,
  });
  state.model = opened.model;

  const snapshot = parts.snapshot();
  const resolved = resolveModel(snapshot, opened.model);
  state.modelId = resolved?.model.id ?? null;
  const values = { model: opened.model };
  if (
    caller.models !== null &&
    !caller.models.has(opened.model) &&
    (resolved === null || !caller.models.has(resolved.id))
  ) {
    throw new GatewayError('model_not_allowed', { values, param: 'model' });
  }
  if (resolved === null || resolved.model.type !== 'chat') {
    throw new GatewayError('model_not_available', { values, param: 'model' });
  }
  const { model, id } = resolved;
  if (!model.enabled) throw new GatewayError('model_disabled', { values, param: 'model' });
  if (!isPriced(model)) throw new GatewayError('model_unpriced', { values, param: 'model' });
  const request = protocol.readRequest(opened);
  state.stream = request.stream;
  if (!parts.journal.usable) throw new GatewayError('unavailable');

  const userAgent = input.headers['user-agent'];
  const routes = findCandidates(
    snapshot,
    {
      group: caller.group,
      clientModel: request.model,
      servedNames: id === request.model ? [id] : [request.model, id],
      protocol: input.protocol,
      // Counting is asked of an upstream that counts as the client's own would.
      convertible: false,
      userAgent: typeof userAgent === 'string' ? userAgent : '',
    },
    parts.random,
  );
  if (routes.length === 1) return { request, model, routes, conversation: null };
  const conversation = conversationOf({
    keyId: caller.keyId,
    model: request.model,
    headers: input.headers,
    json: request.json,
    namesAnswers: input.protocol === 'responses',
  });
  const preferred = parts.affinity.prefer(routes, conversation, parts.clock.monotonic());
  return { request, model, routes: preferred, conversation };
}
