import type { VendorFacts } from '../vendor.ts';

/** Alibaba Cloud Model Studio, for video. Nothing calls it yet. */
export const dashscope = {
  name: 'dashscope',
  baseUrl: 'https://dashscope.aliyuncs.com/api/v1',
  versionPath: '/api/v1',
  protocols: ['video-synthesis'],
  environmentKey: 'DASHSCOPE_API_KEY',
} satisfies VendorFacts;
