import type { DeclaredPrice } from '#config/index.ts';
import { bundle, type BundledModel, type Entry } from './entry.ts';

/** At the vendor's default address. */
const volcenginePrefix = 'doubao-';

const can = ['edits', 'multi_reference', 'streaming'];

/** USD per image, whatever its size. References cost nothing. */
const flat = (price: string): DeclaredPrice => ({
  imageTiers: [{ name: 'any', maxPixels: 100_000_000, price }],
  referenceImage: '0',
});

/** USD per million tokens, whatever the resolution. The vendor takes no reference videos for them. */
const perToken = (price: string): DeclaredPrice => ({
  videoTokens: {
    '1080P': { text: price, withVideo: price },
    '480P': { text: price, withVideo: price },
    '720P': { text: price, withVideo: price },
  },
});

/**
 * Under the names that BytePlus gives them, at its prices. Volcengine charges about the same, in yuan. The price of layers
 * is not known for certain, and those of newer videos depend on more than resolution and references: the configuration
 * must set them.
 */
const entries: readonly Entry[] = [
  {
    id: 'seedream-4-0-250828',
    name: 'Seedream 4.0',
    released: '2025-08-28',
    type: 'image',
    can,
    price: flat('0.03'),
  },
  {
    id: 'seedream-4-5-251128',
    name: 'Seedream 4.5',
    released: '2025-11-28',
    type: 'image',
    can,
    price: flat('0.04'),
  },
  {
    id: 'seedream-5-0-260128',
    name: 'Seedream 5.0 lite',
    released: '2026-01-28',
    type: 'image',
    can,
    price: flat('0.035'),
  },
  {
    id: 'seedream-5-0-pro-260628',
    name: 'Seedream 5.0 Pro',
    released: '2026-06-28',
    type: 'image',
    can: ['edits', 'multi_reference', 'layers'],
  },
  {
    id: 'seedance-1-0-pro-250528',
    name: 'Seedance 1.0 Pro',
    released: '2025-05-28',
    type: 'video',
    can: [],
    price: perToken('2.5'),
  },
  {
    id: 'seedance-1-5-pro-251215',
    name: 'Seedance 1.5 Pro',
    released: '2025-12-15',
    type: 'video',
    can: [],
  },
  {
    id: 'seedance-2-0-260128',
    name: 'Seedance 2.0',
    released: '2026-01-28',
    type: 'video',
    can: [],
  },
];

const ofVolcengine = entries.map((entry) => ({ ...entry, id: `${volcenginePrefix}${entry.id}` }));

export const arkModels: readonly BundledModel[] = [
  ...bundle('ark', ofVolcengine),
  // A channel to BytePlus names them and its own address.
  ...bundle('ark', entries).map((model) => Object.freeze({ ...model, providers: [] })),
];
