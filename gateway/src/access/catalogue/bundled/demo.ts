import { bundle, tokens } from './entry.ts';

/** Served by the simulator. Prices are above zero, so that receipts can be seen. */
export const demoModels = bundle('simulator', [
  {
    id: 'demo-chat',
    name: 'Demo chat (simulated)',
    limits: [128_000, 16_384],
    can: ['vision', 'tools', 'sampling'],
    price: tokens('1', '0.1', '2'),
  },
  {
    id: 'demo-reasoning',
    name: 'Demo reasoning (simulated)',
    limits: [200_000, 32_768],
    can: ['vision', 'tools', 'reasoning'],
    price: tokens('2', '0.2', '8'),
  },
  {
    id: 'demo-embedding',
    name: 'Demo embedding (simulated)',
    type: 'embedding',
    limits: [8_192],
    can: [],
    price: { input: '0.1' },
  },
  {
    id: 'demo-image',
    name: 'Demo image (simulated)',
    type: 'image',
    can: ['edits', 'streaming', 'multi_reference'],
    price: {
      imageTiers: [
        { name: '1K', maxPixels: 2_610_000, price: '0.04' },
        { name: '2K', maxPixels: 6_000_000, price: '0.08' },
      ],
      referenceImage: '0.003',
    },
  },
  {
    id: 'demo-layers',
    name: 'Demo layers (simulated)',
    type: 'image',
    can: ['layers'],
    price: {
      imageTiers: [{ name: '2K', maxPixels: 6_000_000, price: '0.08' }],
      layerFactor: '0.5',
    },
  },
  {
    id: 'demo-video-1',
    name: 'Demo video, video-synthesis (simulated)',
    type: 'video',
    can: [],
    price: { videoSecond: { '720P': '0.1', '1080P': '0.15' } },
  },
  {
    id: 'demo-video-2',
    name: 'Demo video, video-contents (simulated)',
    type: 'video',
    can: [],
    price: {
      videoTokens: {
        '480P': { text: '5', withVideo: '3' },
        '720P': { text: '5', withVideo: '3' },
        '1080P': { text: '6', withVideo: '4' },
      },
    },
  },
]);
