import type { DeclaredPrice } from '#config/index.ts';
import { bundle } from './entry.ts';

/** USD per second, at the vendor's prices outside of China. Inside, it charges about the same, in yuan. */
const seconds = (prices: Readonly<Record<string, string>>): DeclaredPrice => ({
  videoSecond: prices,
});

const wan25 = seconds({ '1080P': '0.15', '480P': '0.05', '720P': '0.1' });
const wan26 = seconds({ '1080P': '0.15', '720P': '0.1' });

export const dashscopeModels = bundle('dashscope', [
  {
    id: 'wan2.5-t2v-preview',
    name: 'Wan 2.5, text to video',
    type: 'video',
    can: [],
    price: wan25,
  },
  {
    id: 'wan2.5-i2v-preview',
    name: 'Wan 2.5, image to video',
    type: 'video',
    can: [],
    price: wan25,
  },
  {
    id: 'wan2.6-t2v',
    name: 'Wan 2.6, text to video',
    type: 'video',
    can: [],
    price: wan26,
  },
  {
    id: 'wan2.6-i2v',
    name: 'Wan 2.6, image to video',
    type: 'video',
    can: [],
    price: wan26,
  },
]);
