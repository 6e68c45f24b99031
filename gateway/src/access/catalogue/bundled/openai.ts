import { bundle, tokens } from './entry.ts';

/** USD per search; searches of older models cost more, but their content is free. */
const searches = { fees: { web_search: '0.01' } };
const olderSearches = { fees: { web_search: '0.025' } };

const fast = ['vision', 'tools', 'sampling', 'hosted_tools'];
/** Source images are for edits: its generations refuse them. */
const drawing = ['edits', 'streaming'];
const speaking = ['tools', 'sampling'];
const reasoning = ['vision', 'tools', 'reasoning', 'hosted_tools'];

/** Of text and of images. */
const cacheReads = (cacheRead: string, cacheReadImage: string) => ({ cacheRead, cacheReadImage });

/** Of GPT-6.1 Sol and GPT-6.2 Sol. */
const solPrice = {
  input: '2',
  cacheRead: '0.1',
  cacheWrite: '2.5',
  output: '10',
  tiers: [{ above: 272_000, input: '4', cacheRead: '0.2', cacheWrite: '5', output: '15' }],
  ...searches,
};

export const openaiModels = bundle('openai', [
  // The default of Codex 0.171.
  {
    id: 'gpt-6.2-sol',
    name: 'GPT-6.2 Sol',
    released: '2026-11-17',
    limits: [1_050_000, 128_000],
    can: reasoning,
    price: {
      ...solPrice,
      cacheWrite1h: '5',
      tiers: solPrice.tiers.map((tier) => ({ ...tier, cacheWrite1h: '10' })),
    },
  },
  { id: 'gpt-6.2-astra', name: 'GPT-6.2 Astra', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-6.1-terra', name: 'GPT-6.1 Terra', limits: [null, 128_000], can: reasoning },
  {
    id: 'gpt-6.1-sol',
    name: 'GPT-6.1 Sol',
    released: '2026-09-29',
    limits: [1_050_000, 128_000],
    can: reasoning,
    price: solPrice,
  },
  { id: 'gpt-6-sol', name: 'GPT-6 Sol', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-6-astra', name: 'GPT-6 Astra', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-6-luna', name: 'GPT-6 Luna', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.6-sol', name: 'GPT-5.6 Sol', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.6-terra', name: 'GPT-5.6 Terra', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.6-luna', name: 'GPT-5.6 Luna', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.5', name: 'GPT-5.5', limits: [null, 128_000], can: reasoning },
  {
    id: 'gpt-5.4',
    name: 'GPT-5.4',
    limits: [1_050_000, 128_000],
    can: reasoning,
    price: {
      ...tokens('2.5', '0.25', '15'),
      tiers: [{ above: 272_000, input: '5', cacheRead: '0.5', output: '22.5' }],
      ...searches,
    },
  },
  { id: 'gpt-5.4-mini', name: 'GPT-5.4 mini', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.4-nano', name: 'GPT-5.4 nano', limits: [null, 128_000], can: reasoning },
  { id: 'gpt-5.2', name: 'GPT-5.2', limits: [null, 128_000], can: reasoning },
  {
    id: 'gpt-5.1',
    name: 'GPT-5.1',
    released: '2025-11-13',
    limits: [400_000, 128_000],
    can: reasoning,
  },
  {
    id: 'gpt-5',
    name: 'GPT-5',
    released: '2025-08-07',
    limits: [400_000, 128_000],
    can: reasoning,
  },
  {
    id: 'gpt-5-mini',
    name: 'GPT-5 mini',
    released: '2025-08-07',
    limits: [400_000, 128_000],
    can: reasoning,
  },
  {
    id: 'gpt-5-nano',
    name: 'GPT-5 nano',
    released: '2025-08-07',
    limits: [400_000, 128_000],
    can: reasoning,
  },
  {
    id: 'gpt-4.1',
    name: 'GPT-4.1',
    released: '2025-04-14',
    limits: [1_047_576, 32_768],
    can: fast,
    price: { ...tokens('2', '0.5', '8'), ...olderSearches },
  },
  {
    id: 'gpt-4.1-mini',
    name: 'GPT-4.1 mini',
    released: '2025-04-14',
    limits: [1_047_576, 32_768],
    can: fast,
    price: { ...tokens('0.4', '0.1', '1.6'), ...olderSearches },
  },
  {
    id: 'gpt-4.1-nano',
    name: 'GPT-4.1 nano',
    released: '2025-04-14',
    limits: [1_047_576, 32_768],
    can: fast,
    price: { ...tokens('0.1', '0.025', '0.4'), ...olderSearches },
  },
  {
    id: 'gpt-4o',
    name: 'GPT-4o',
    released: '2024-05-13',
    limits: [128_000, 16_384],
    can: fast,
    price: { ...tokens('2.5', '1.25', '10'), ...olderSearches },
  },
  {
    id: 'gpt-4o-mini',
    name: 'GPT-4o mini',
    released: '2024-07-18',
    limits: [128_000, 16_384],
    can: fast,
    price: { ...tokens('0.15', '0.075', '0.6'), ...olderSearches },
  },
  // Sound in and out, by chat completions.
  {
    id: 'gpt-audio-1.5',
    name: 'GPT Audio 1.5',
    released: '2026-02-23',
    limits: [128_000, 16_384],
    can: speaking,
    price: { input: '2.5', output: '10', inputAudio: '32', outputAudio: '64' },
  },
  {
    id: 'gpt-audio',
    name: 'GPT Audio',
    released: '2025-08-28',
    limits: [128_000, 16_384],
    can: speaking,
  },
  {
    id: 'gpt-audio-mini',
    name: 'GPT Audio mini',
    released: '2025-10-06',
    limits: [128_000, 16_384],
    can: speaking,
  },
  {
    id: 'o4-mini',
    name: 'o4-mini',
    released: '2025-04-16',
    limits: [200_000, 100_000],
    can: reasoning,
  },
  {
    id: 'gpt-image-2',
    name: 'GPT Image 2',
    released: '2026-04-21',
    type: 'image',
    can: drawing,
    price: { input: '5', inputImage: '8', ...cacheReads('1.25', '2'), output: '30' },
  },
  {
    id: 'gpt-image-1.5',
    name: 'GPT Image 1.5',
    released: '2025-12-16',
    type: 'image',
    can: drawing,
    price: {
      input: '5',
      inputImage: '8',
      ...cacheReads('1.25', '2'),
      output: '10',
      outputImage: '32',
    },
  },
  {
    id: 'gpt-image-1',
    name: 'GPT Image 1',
    released: '2025-04-23',
    type: 'image',
    can: drawing,
    price: { input: '5', inputImage: '10', ...cacheReads('1.25', '2.5'), output: '40' },
  },
  {
    id: 'gpt-image-1-mini',
    name: 'GPT Image 1 mini',
    released: '2025-10-06',
    type: 'image',
    can: drawing,
    price: { input: '2', inputImage: '2.5', ...cacheReads('0.2', '0.25'), output: '8' },
  },
  {
    id: 'text-embedding-3-small',
    name: 'Text embedding 3 small',
    released: '2024-01-25',
    type: 'embedding',
    limits: [8_192],
    can: [],
  },
  {
    id: 'text-embedding-3-large',
    name: 'Text embedding 3 large',
    released: '2024-01-25',
    type: 'embedding',
    limits: [8_192],
    can: [],
  },
]);
