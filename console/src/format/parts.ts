import type { Say, TextName } from '../words/index.ts';
import { en } from '../words/en.ts';

/** What a line of a receipt, or of a price, is for. */
export interface Part {
  /** As in the configuration, with the name of its tier: `input`, `image_tiers.2K`. */
  readonly name: string;
  /** For prompts of more tokens than this; null: of any length. */
  readonly above: number | null;
  /** What has multiplied the price: `service_tier.priority`. */
  readonly surcharges: readonly string[];
}

/** Takes `tiers.200000.input@speed.fast` apart. */
export function partOf(text: string): Part {
  const [whole = '', ...surcharges] = text.split('@');
  const tier = /^tiers\.(\d+)\.(.+)$/.exec(whole);
  if (tier === null) return { name: whole, above: null, surcharges };
  return { name: tier[2] ?? '', above: Number(tier[1]), surcharges };
}

/**
 * A part in words: `image_tiers.2K` is “Pictures, 2K”. What has no words keeps its own name.
 * @param count writes a number of tokens
 */
export function partName(text: string, say: Say, count: (value: number) => string): string {
  const { name, above, surcharges } = partOf(text);
  return [
    ...wordsOf(name, say),
    ...(above === null ? [] : [say('parts.above', { count: count(above) })]),
    ...surcharges.map(spaced),
  ].join(say('parts.comma'));
}

function wordsOf(part: string, say: Say): string[] {
  const [first = '', ...rest] = part.split('.');
  if (!Object.hasOwn(en.parts.names, first)) return [part];
  const name = say(`parts.names.${first}` as TextName);
  const source = rest.at(-1);
  if (source === 'text' || source === 'with_video') {
    return [name, rest.slice(0, -1).join('.'), say(`parts.sources.${source}`)];
  }
  const unpriced = first === 'unpriced' ? rest.join('.') : '';
  if (Object.hasOwn(en.parts.names, unpriced)) {
    return [name, say(`parts.names.${unpriced}` as TextName)];
  }
  // Names of tiers may have dots of their own.
  return rest.length === 0 ? [name] : [name, spaced(rest.join('.'))];
}

/** `service_tier.priority` as the words that it is made of. */
const spaced = (name: string) =>
  name.replace(/^(service_tier|speed|inference_geo)\./, '$1 ').replaceAll('_', ' ');
