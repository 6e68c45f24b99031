import type { Model } from '../models/query.ts';
import type { Partner } from './column.tsx';
import { protocolsFor, type Protocol } from './speak.ts';

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
    const model = models.find(({ id }) => id === text.slice(colon + 1));
    const offered = protocolsFor(model?.type ?? '');
    const protocol = offered.find((name) => name === text.slice(0, colon));
    return model !== undefined && protocol !== undefined ? [{ model: model.id, protocol }] : [];
  });
  const [first] = models;
  if (partners.length > 0 || first === undefined) return partners;
  return [{ model: first.id, protocol: nativeProtocol(first) }];
}

/** One that the model's channels speak, so that nothing is converted unless somebody wants it. */
export function nativeProtocol({ type, protocols }: Model): Protocol {
  const offered = protocolsFor(type);
  return offered.find((name) => protocols.includes(name)) ?? offered[0] ?? 'chat';
}

/** Another model in the same place, and in the same protocol if it can be asked in it. */
export function partnerFor({ protocol }: Partner, id: string, models: readonly Model[]): Partner {
  const model = models.find((each) => each.id === id);
  if (model === undefined || protocolsFor(model.type).includes(protocol))
    return { model: id, protocol };
  return { model: id, protocol: nativeProtocol(model) };
}
