import type { DeclaredPrice } from '#config/index.ts';

interface PricePart {
  readonly part: string;
  readonly price: string;
  readonly unit: 'million_tokens' | 'picture' | 'second' | 'use' | 'factor';
}

/** The parts of a price, each as the file names and states it. */
export function pricesOf(price: DeclaredPrice): PricePart[] {
  const {
    imageTiers = [],
    videoSecond = {},
    videoTokens = {},
    multipliers = {},
    fees = {},
  } = price;
  const part = (name: string, value: string | undefined, unit: PricePart['unit']): PricePart[] =>
    value === undefined ? [] : [{ part: name, price: value, unit }];
  const parts = (name: string, values: Readonly<Record<string, string>>, unit: PricePart['unit']) =>
    Object.entries(values).flatMap(([key, value]) => part(`${name}.${key}`, value, unit));
  return [
    ...part('input', price.input, 'million_tokens'),
    ...part('cache_read', price.cacheRead, 'million_tokens'),
    ...part('cache_write', price.cacheWrite, 'million_tokens'),
    ...part('cache_write_1h', price.cacheWrite1h, 'million_tokens'),
    ...part('output', price.output, 'million_tokens'),
    ...part('input_image', price.inputImage, 'million_tokens'),
    ...part('output_image', price.outputImage, 'million_tokens'),
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
