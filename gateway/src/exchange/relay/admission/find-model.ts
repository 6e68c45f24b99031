import {
  type CatalogueSnapshot,
  type Channel,
  findUsableModel,
  type Model,
  type Route,
  servedNames,
} from '#catalogue/index.ts';
import { nearest } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import { findCandidates, type RouteQuery } from '#routing/index.ts';
import type { Exchange, ExchangeInput, ExchangeParts } from '../exchange.ts';
import type { CheckedRequest, Operation, ResolvedModel } from '../operation.ts';

type AnyOperation<Parts> = Operation<ExchangeInput, CheckedRequest, unknown, Parts>;

/** A model that the caller may use, and what serves the request with it. */
interface FoundModel<Parts> {
  readonly resolvedModel: ResolvedModel;
  /** The requested one, or that for models of another type (`Operation.instead`). */
  readonly operation: AnyOperation<Parts>;
}

/** The operation that serves the request with models of a type; null: none does. */
function operationFor<Parts>(
  requestedOperation: AnyOperation<Parts>,
  input: ExchangeInput,
  type: Model['type'],
): AnyOperation<Parts> | null {
  return type === requestedOperation.modelType
    ? requestedOperation
    : (requestedOperation.instead?.(input, type) ?? null);
}

/**
 * Finds the model behind a name, as `findUsableModel` does.
 * @param requestedOperation what the request asks for: it can use models of some types only
 * @throws GatewayError
 */
export function findModel<Parts>(
  { snapshot: current }: Pick<ExchangeParts, 'snapshot'>,
  exchange: Exchange,
  requestedOperation: AnyOperation<Parts>,
  name: string,
): FoundModel<Parts> {
  const { models: allowedModels } = exchange.input.caller;
  exchange.model = name;
  const snapshot = current();
  const group = snapshot.groups.get(exchange.input.caller.group);
  if (group === undefined) throw new GatewayError('group_disabled');
  const { model, servedNames, refusal } = findUsableModel(snapshot, name, allowedModels);
  exchange.catalogueModel = model;
  const values = { model: name };
  if (refusal === 'model_not_allowed') throw new GatewayError(refusal, { values, param: 'model' });
  const { input } = exchange;
  const operation = model === null ? null : operationFor(requestedOperation, input, model.type);
  if (model === null || operation === null) {
    const hint = model === null ? hintFor(snapshot, input, requestedOperation, name) : '';
    throw new GatewayError('model_not_available', { values: { ...values, hint }, param: 'model' });
  }
  if (refusal !== null) throw new GatewayError(refusal, { values, param: 'model' });
  return { resolvedModel: { name, model, group, snapshot, servedNames }, operation };
}

/** More names are not searched: each such request would cost too much. */
const mostNames = 5_000;
const longestName = 100;

/** The name that was probably meant, among those that this key may use. */
function hintFor(
  snapshot: CatalogueSnapshot,
  input: ExchangeInput,
  requestedOperation: AnyOperation<never>,
  name: string,
): string {
  if (name.length > longestName || snapshot.models.size > mostNames) return '';
  const { models: allowedModels, group } = input.caller;
  const usable = servedNames(snapshot, group).filter(
    ({ name, model }) =>
      operationFor(requestedOperation, input, model.type) !== null &&
      (allowedModels === null || allowedModels.has(name) || allowedModels.has(model.id)),
  );
  const near = nearest(
    name,
    usable.map(({ name }) => name),
  );
  return near === null ? '' : `: did you mean '${near}'?`;
}

/** All routes of the caller's group to a model, by any of its names, for any type of client. */
export function namedRoutes(
  { caller }: Pick<ExchangeInput, 'caller'>,
  { snapshot, servedNames }: Pick<ResolvedModel, 'snapshot' | 'servedNames'>,
): readonly Route[] {
  const routes = snapshot.routes.get(caller.group);
  return servedNames.flatMap((name) => routes?.get(name) ?? []);
}

/** Which routes an exchange may take. */
export function routeQueryOf(
  { caller, headers, protocol }: Pick<ExchangeInput, 'caller' | 'headers' | 'protocol'>,
  { name, servedNames }: ResolvedModel,
): RouteQuery {
  const userAgent = headers['user-agent'];
  return {
    group: caller.group,
    clientModel: name,
    servedNames,
    protocol,
    userAgent: typeof userAgent === 'string' ? userAgent : '',
  };
}

/** Channels that must not get the ids that a request names. */
interface Refusing {
  readonly refusing: ReadonlySet<Channel>;
}

/**
 * The routes that can serve a checked request, in the order to try them, without the channels that must not get the ids
 * that it names.
 * @param upstreams the protocols that upstreams may speak. Absent: the client's, or one that text converts to
 * @throws GatewayError when there is none.
 */
export function candidatesFor(
  { random }: Pick<ExchangeParts, 'random'>,
  input: ExchangeInput,
  {
    resolvedModel,
    names,
  }: { readonly resolvedModel: ResolvedModel; readonly names?: Refusing | null },
  upstreams?: RouteQuery['upstreams'],
): readonly Route[] {
  const query = routeQueryOf(input, resolvedModel);
  const routeQuery = upstreams === undefined ? query : { ...query, upstreams };
  const routes = findCandidates(resolvedModel.snapshot, routeQuery, random);
  if (names === undefined || names === null || names.refusing.size === 0) return routes;
  return routes.filter(({ channel }) => !names.refusing.has(channel));
}
