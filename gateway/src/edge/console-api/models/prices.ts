import type { DeclaredPrice, PromptTier } from '#config/index.ts';

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
    ...tokenParts(price, ''),
    ...part('output_image', price.outputImage, 'million_tokens'),
    ...tiers.flatMap((tier) => tokenParts(tier, `tiers.${tier.above}.`)),
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

/** The parts per million tokens that a tier has too, in the order of the file. */
function tokenParts(price: DeclaredPrice | PromptTier, before: string): PricePart[] {
  return [
    ...part(`${before}input`, price.input, 'million_tokens'),
    ...part(`${before}cache_read`, price.cacheRead, 'million_tokens'),
    ...part(`${before}cache_write`, price.cacheWrite, 'million_tokens'),
    ...part(`${before}cache_write_1h`, price.cacheWrite1h, 'million_tokens'),
    ...part(`${before}output`, price.output, 'million_tokens'),
    ...part(`${before}input_image`, price.inputImage, 'million_tokens'),
  ];
}

function part(name: string, value: string | undefined, unit: PricePart['unit']): PricePart[] {
  return value === undefined ? [] : [{ part: name, price: value, unit }];
}
