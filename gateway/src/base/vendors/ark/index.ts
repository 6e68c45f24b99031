import type { VendorFacts } from '../vendor.ts';

/** Volcengine Ark, for video and images. Nothing calls it yet. */
export const ark = {
  name: 'ark',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  versionPath: '/api/v3',
  protocols: ['video-contents', 'images'],
  environmentKey: 'ARK_API_KEY',
} satisfies VendorFacts;
