import type { Model } from '../models/query.ts';
import type { Partner } from './column.tsx';
import { protocolNames, type Protocol } from './speak.ts';

export const mostPartners = 3;

/** As in the address: the protocol, a colon, the model. */
export const writePartner = ({ model, protocol }: Partner) => `${protocol}:${model}`;

/** Those of the address that can be asked; if there are none, the first model that can. */
export function readPartners(
  written: readonly string[],
  models: readonly Model[],
): readonly Partner[] {
  const partners = written.slice(0, mostPartners).flatMap((text): Partner[] => {
    const colon = text.indexOf(':');
    const model = text.slice(colon + 1);
    const protocol = protocolNames.find((name) => name === text.slice(0, colon));
    const isKnown = models.some(({ id }) => id === model);
    return isKnown && protocol !== undefined ? [{ model, protocol }] : [];
  });
  const [first] = models;
  if (partners.length > 0 || first === undefined) return partners;
  return [{ model: first.id, protocol: nativeProtocol(first) }];
}

/** One that the model's channels speak, so that nothing is converted unless somebody wants it. */
export function nativeProtocol({ protocols }: Model): Protocol {
  return protocolNames.find((name) => protocols.includes(name)) ?? 'chat';
}
