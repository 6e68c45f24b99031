import { textProtocolNames } from '#canonical/index.ts';
import type { Model, Route } from '#catalogue/index.ts';
import { textFacts, type WireRequest } from '#protocols/index.ts';
import { isNative } from '#routing/index.ts';
import { type SurchargeFacts, traitsFor, vendorOf } from '#vendors/index.ts';
import {
  isOffered,
  requireOffered,
  surchargeRefusal,
  surchargesOf,
} from '../admission/offered-terms.ts';
import type { TextInput } from './input.ts';

const noTerms: readonly string[] = Object.freeze([]);

/**
 * The terms of the request, such as a service tier, that its upstreams get. Those of the client's protocol get all of
 * them; in conversions only service tiers arrive, and only between chat and responses.
 * @param routes those that may serve the request
 * @throws GatewayError for a term that its upstream charges for and that has no price
 */
export function termsSent(
  { terms, betas = noTerms }: Pick<WireRequest, 'terms' | 'betas'>,
  model: Model,
  { protocol, operation }: Pick<TextInput, 'protocol' | 'operation'>,
  routes: () => readonly Route[],
): readonly string[] {
  // Counting tokens is free on any terms.
  if (operation === 'count-tokens' || (terms.length === 0 && betas.length === 0)) return noTerms;
  const all = routes();
  const native = all.filter((route) => isNative(route, protocol));
  requireOffered(terms, model, native);
  const tiers = terms.filter((term) => term.startsWith('service_tier.'));
  const convertedRoutes =
    tiers.length === 0 ? [] : all.filter((route) => carriesTiers(route, protocol));
  requireOffered(tiers, model, convertedRoutes);
  for (const route of native) {
    const closedName = betas.find((name) => closedBeta(name, model, surchargesOf(route)) !== null);
    if (closedName !== undefined) {
      throw surchargeRefusal(
        'anthropic_beta',
        `'${closedName}' has no price for this model, please leave it out`,
      );
    }
  }
  if (native.length > 0) return terms;
  return convertedRoutes.length > 0 ? tiers : noTerms;
}

/** Whether a request of this protocol keeps its service tier when it is converted for the route. */
function carriesTiers(route: Route, protocol: TextInput['protocol']): boolean {
  const { channel, upstreamModel } = route;
  const sharesTiers = (name: TextInput['protocol']): boolean => textFacts[name].sharesTiers;
  const others = textProtocolNames.filter((name) => name !== protocol && sharesTiers(name));
  if (!sharesTiers(protocol) || !others.some((name) => channel.protocols.includes(name)))
    return false;
  if (isNative(route, protocol)) return false;
  return traitsFor(vendorOf(channel), upstreamModel, channel.baseUrl).serviceTiers;
}

/** The name of a beta that costs extra and has no price; null for any other. */
function closedBeta(name: string, model: Model, { betas }: SurchargeFacts): string | null {
  const word = name.trim().toLowerCase();
  const beta = betas.find(({ prefix }) => word.startsWith(prefix));
  if (beta === undefined) return null;
  const isOpen =
    (beta.term === undefined || isOffered(model, beta.term)) &&
    (beta.windowAbove === undefined || (model.contextWindow ?? 0) > beta.windowAbove);
  return isOpen ? null : beta.prefix;
}

export interface PassedBetas {
  /** The header's value; empty if no beta is left. */
  readonly value: string;
  /** The dropped betas, named as rewrites: `beta.context-1m`. */
  readonly dropped: readonly string[];
}

/** The client's betas without those that cost extra and have no price. Null: all of them pass. */
export function passedBetas(
  header: unknown,
  model: Model,
  facts: SurchargeFacts,
): PassedBetas | null {
  if (typeof header !== 'string' || facts.betas.length === 0) return null;
  const droppedBetas = new Set<string>();
  const passedNames = header.split(',').filter((name) => {
    const closedName = closedBeta(name, model, facts);
    if (closedName !== null) droppedBetas.add(`beta.${closedName}`);
    return closedName === null;
  });
  return droppedBetas.size === 0
    ? null
    : { value: passedNames.join(',').trim(), dropped: [...droppedBetas] };
}
