import { tokenPartNames, tokenParts } from '#canonical/index.ts';
import type { DeclaredPrice, TokenPrices } from '#config/index.ts';

interface PricePart {
  readonly part: string;
  readonly price: string;
  readonly unit: 'million_tokens' | 'picture' | 'second' | 'use' | 'factor';
}

/** The parts of a price, each as the file names and states it. */
export function pricesOf(price: DeclaredPrice): PricePart[] {
  const {
    tiers = [],
    imageTiers = [],
    videoSecond = {},
    videoTokens = {},
    multipliers = {},
    fees = {},
  } = price;
  const parts = (name: string, values: Readonly<Record<string, string>>, unit: PricePart['unit']) =>
    Object.entries(values).flatMap(([key, value]) => part(`${name}.${key}`, value, unit));
  return [
    ...tokenPrices(price, ''),
    ...tiers.flatMap((tier) => tokenPrices(tier, `tiers.${tier.above}.`)),
    ...imageTiers.flatMap((tier) => part(`image_tiers.${tier.name}`, tier.price, 'picture')),
    ...part('layer_factor', price.layerFactor, 'factor'),
    ...part('reference_image', price.referenceImage, 'picture'),
    ...parts('video_second', videoSecond, 'second'),
    ...Object.entries(videoTokens).flatMap(([resolution, { text, withVideo }]) => [
      ...part(`video_tokens.${resolution}.text`, text, 'million_tokens'),
      ...part(`video_tokens.${resolution}.with_video`, withVideo, 'million_tokens'),
    ]),
    ...parts('multipliers', multipliers, 'factor'),
    ...parts('fees', fees, 'use'),
  ];
}

/** The parts per million tokens, in the order of the file. */
function tokenPrices(price: TokenPrices, before: string): PricePart[] {
  return tokenPartNames.flatMap((name) =>
    part(before + tokenParts[name], price[name], 'million_tokens'),
  );
}

function part(name: string, value: string | undefined, unit: PricePart['unit']): PricePart[] {
  return value === undefined ? [] : [{ part: name, price: value, unit }];
}
