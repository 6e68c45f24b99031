import {
  type CatalogueSnapshot,
  isPriced,
  type Model,
  resolveModel,
  type Route,
  servedNames,
} from '#catalogue/index.ts';
import { nearest } from '#config/index.ts';
import { GatewayError } from '#errors/index.ts';
import type { RouteQuery } from '#routing/index.ts';
import type { Exchange, ExchangeParts } from './exchange.ts';
import type { ExchangeInput } from './input.ts';

/** A model that the caller may use, and the catalogue it was found in. */
export interface ResolvedModel {
  /** As the client wrote it. */
  readonly name: string;
  readonly model: Model;
  /** The catalogue when the request arrived; everything later is decided with it. */
  readonly snapshot: CatalogueSnapshot;
  /** The names under which channels may serve the model, in order of preference. */
  readonly servedNames: readonly string[];
}

/**
 * Finds the model behind a name. The order of checks is documented: allowed for the key, known, enabled, priced.
 * @param serves whether the request can use models of a type
 * @throws GatewayError
 */
export function findModel(
  { snapshot: current }: Pick<ExchangeParts, 'snapshot'>,
  exchange: Exchange,
  serves: (type: Model['type']) => boolean,
  name: string,
): ResolvedModel {
  const { models: allowed } = exchange.input.caller;
  exchange.model = name;
  const snapshot = current();
  const resolved = resolveModel(snapshot, name);
  exchange.catalogueModel = resolved?.model ?? null;
  const values = { model: name };
  if (allowed !== null && !allowed.has(name) && (resolved === null || !allowed.has(resolved.id))) {
    throw new GatewayError('model_not_allowed', { values, param: 'model' });
  }
  if (resolved === null || !serves(resolved.model.type)) {
    const hint = resolved === null ? hintFor(snapshot, exchange, serves, name) : '';
    throw new GatewayError('model_not_available', { values: { ...values, hint }, param: 'model' });
  }
  const { model, id } = resolved;
  if (!model.enabled) throw new GatewayError('model_disabled', { values, param: 'model' });
  if (!isPriced(model)) throw new GatewayError('model_unpriced', { values, param: 'model' });
  return { name, model, snapshot, servedNames: id === name ? [id] : [name, id] };
}

/** More names are not searched: each such request would cost too much. */
const mostNames = 5_000;
const longestName = 100;

/** The name that was probably meant, among those that this key may use. */
function hintFor(
  snapshot: CatalogueSnapshot,
  { input: { caller } }: Exchange,
  serves: (type: Model['type']) => boolean,
  name: string,
): string {
  if (name.length > longestName || snapshot.models.size > mostNames) return '';
  const { models: allowed } = caller;
  const usable = servedNames(snapshot, caller.group).filter(
    ({ name, model }) =>
      serves(model.type) && (allowed === null || allowed.has(name) || allowed.has(model.id)),
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
