import type { Say, TextName } from '../words/index.ts';
import { en } from '../words/en.ts';

/** A part of a price in words: `image_tiers.2K` is “Pictures, 2K”. What has no words keeps its own name. */
export function partName(part: string, say: Say): string {
  const [name = '', ...rest] = part.split('.');
  const tier = rest.join(', ').replaceAll('_', ' ');
  if (Object.hasOwn(en.parts, name)) {
    const text = say(`parts.${name}` as TextName, { tier });
    const isNamed = tier === '' || text.includes(tier);
    return isNamed ? text : `${text}, ${tier}`;
  }
  return part;
}
