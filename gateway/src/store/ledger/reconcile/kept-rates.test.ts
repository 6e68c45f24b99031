import { expect, test } from 'vitest';
import { checkRates } from './kept-rates.ts';

const price = JSON.stringify({
  input: '3',
  output: '15',
  multipliers: {
    'service_tier.priority': '2',
    'inference_geo.us': '1.1',
    'speed.fast': '0.333333',
  },
  fees: { web_search: '0.01' },
  tiers: [{ above: 200000, input: '6', cacheRead: '0.6' }],
  imageTiers: [
    { name: '1K', maxPixels: 1, price: '0.04' },
    { name: '2.5K', maxPixels: 2, price: '0.000000000000005' },
  ],
  layerFactor: '0.5',
  referenceImage: '0.003',
  videoSecond: { '720P': '0.1' },
  videoTokens: { '4K': { text: '7', withVideo: '4' } },
});

const differencesOf = (part: string, rate: string) =>
  checkRates(
    { id: 'r', receipt: JSON.stringify([{ part, quantity: 1, rate }]), price_version: 'v' },
    price,
  );

test.each([
  ['input', '3000000000'],
  ['output@service_tier.priority', '30000000000'],
  ['input@inference_geo.us', '3300000000'],
  ['cache_read@service_tier.priority@inference_geo.us', '6600000000'],
  ['output@speed.fast@speed.fast', '1666663333.335'],
  ['tiers.200000.input', '6000000000'],
  ['tiers.200000.cache_read@service_tier.priority', '1200000000'],
  ['tiers.200000.cache_write', '6000000000'],
  ['tiers.200000.output', '15000000000'],
  ['fees.web_search', '10000000000000'],
  ['unpriced.grounded_prompt', '0'],
  ['iterations', '0'],
  ['output_image', '15000000000'],
  ['image_tiers.1K', '40000000000000'],
  ['layer_factor.1K', '20000000000000'],
  ['image_tiers.2.5K', '5'],
  ['layer_factor.2.5K', '2'],
  ['reference_image', '3000000000000'],
  ['video_second.720P', '100000000000000'],
  ['video_tokens.4K.text', '7000000000'],
  ['video_tokens.4K.with_video', '4000000000'],
])('%s at %s matches the price', (part, rate) => {
  expect(differencesOf(part, rate)).toEqual([]);
});

test.each([
  ['output@service_tier.priority', '15000000000', 'output@service_tier.priority at 30000000000'],
  ['output', '30000000000', 'output at 15000000000'],
  ['output@speed.slow', '15000000000', 'output@speed.slow at null'],
  ['fees.web_search', '0', 'fees.web_search at 10000000000000'],
  ['fees.other', '1', 'fees.other at null'],
  ['unpriced.web_search', '1', 'unpriced.web_search at 0'],
  ['image_tiers.1K', '80000000000000', 'image_tiers.1K at 40000000000000'],
  ['image_tiers.4K', '40000000000000', 'image_tiers.4K at null'],
  ['layer_factor.1K', '40000000000000', 'layer_factor.1K at 20000000000000'],
  ['layer_factor.4K', '0', 'layer_factor.4K at null'],
  ['reference_image', '0', 'reference_image at 3000000000000'],
  ['video_second.720P', '1', 'video_second.720P at 100000000000000'],
  ['video_second.4K', '0', 'video_second.4K at null'],
  ['video_tokens.4K.with_video', '7000000000', 'video_tokens.4K.with_video at 4000000000'],
  ['video_tokens.4K', '7000000000', 'video_tokens.4K at null'],
  ['video_tokens.720P.text', '0', 'video_tokens.720P.text at null'],
])('%s at %s does not match the price', (part, rate, expected) => {
  expect(differencesOf(part, rate)).toMatchObject([{ check: 'price', expected }]);
});
