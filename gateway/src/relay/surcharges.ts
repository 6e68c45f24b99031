import { ratesOf } from '../billing/index.ts';
import type { Surcharges } from '../canonical/index.ts';
import type { Model, Route } from '../catalogue/index.ts';
import { GatewayError } from '../errors/index.ts';
import type { WireRequest } from '../protocols/index.ts';
import { findProvider, isDear, noSurcharges, type SurchargeFacts } from '../providers/index.ts';
import type { ExchangeInput } from './exchange.ts';

const noTerms: readonly string[] = Object.freeze([]);

/** What the upstream of a route charges for besides tokens. */
export function surchargesOf({ channel }: Route): SurchargeFacts {
  return findProvider(channel.provider)?.surcharges ?? noSurcharges;
}

/** Whether a term has a price at this model, or may be asked for without one. */
function isOffered({ price, allow }: Model, term: string): boolean {
  return allow.has(term) || price?.multipliers?.[term] !== undefined;
}

/**
 * The terms of the request that reach an upstream, which are those of the client's own protocol: conversion drops
 * them.
 * @param routes that may answer
 * @throws GatewayError for one that its upstream charges for and nobody has priced
 */
export function termsSent(
  { terms }: Pick<WireRequest, 'terms'>,
  model: Model,
  { protocol, operation }: Pick<ExchangeInput, 'protocol' | 'operation'>,
  routes: () => readonly Route[],
): readonly string[] {
  // Counting tokens costs nothing on any terms.
  if (terms.length === 0 || operation !== 'generate') return noTerms;
  const native = routes().filter(({ channel }) => channel.protocols.includes(protocol));
  if (native.length === 0) return noTerms;
  for (const term of terms) {
    const isCharged = native.some((route) => isDear(surchargesOf(route), term));
    if (!isCharged || isOffered(model, term)) continue;
    const [field = '', value = ''] = term.split('.');
    const reason = `${field}: '${value}' has no price for this model, please leave it out`;
    throw new GatewayError('invalid_value', { values: { reason }, param: field });
  }
  return terms;
}

export interface PassedBetas {
  /** The header's value; empty: nothing is left of it. */
  readonly value: string;
  /** As rewrites, `beta.context-1m`. */
  readonly dropped: readonly string[];
}

/** The client's betas without those that would cost what nobody has priced. Null: all of them pass as they are. */
export function passedBetas(
  header: unknown,
  model: Model,
  { betas }: SurchargeFacts,
): PassedBetas | null {
  if (typeof header !== 'string' || betas.length === 0) return null;
  if (!betas.some(({ prefix }) => header.includes(prefix))) return null;
  const dropped = new Set<string>();
  const kept = header.split(',').filter((name) => {
    const beta = betas.find(({ prefix }) => name.trim().startsWith(prefix));
    if (beta === undefined) return true;
    const isOpen =
      (beta.term === undefined || isOffered(model, beta.term)) &&
      (beta.windowAbove === undefined || (model.contextWindow ?? 0) > beta.windowAbove);
    if (!isOpen) dropped.add(`beta.${beta.prefix}`);
    return isOpen;
  });
  return dropped.size === 0 ? null : { value: kept.join(',').trim(), dropped: [...dropped] };
}

/**
 * What of the answer's report is charged or noted: terms that the price multiplies, and those that the upstream
 * charges for although nobody has priced them.
 * @param allow of the model: what it lists is not noted
 */
export function chargedSurcharges(
  { reported, webSearches }: Surcharges,
  { price, allow }: Pick<Model, 'price' | 'allow'>,
  facts: SurchargeFacts,
): Surcharges | undefined {
  const multipliers = price === null ? null : ratesOf(price).multipliers;
  const terms = reported.filter(
    (term) => multipliers?.has(term) === true || (isDear(facts, term) && !allow.has(term)),
  );
  return terms.length === 0 && webSearches === 0 ? undefined : { reported: terms, webSearches };
}
