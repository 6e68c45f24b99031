import { bearer } from '../openai/index.ts';
import { noSurcharges } from '../surcharges.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';
import { classifyArk } from './classify.ts';

/** Volcengine Ark, and BytePlus at an address of its own: pictures. Nothing calls it for video yet. */
export const ark = {
  name: 'ark',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  versionPath: '/api/v3',
  protocols: ['video-contents', 'images'],
  environmentKey: 'ARK_API_KEY',
  countsTokensIn: [],
  path({ protocol }: UpstreamTarget): string {
    if (protocol === 'images') return '/images/generations';
    throw new TypeError(`Ark is not called for ${protocol}`);
  },
  headers: bearer,
  classify: classifyArk,
  surcharges: noSurcharges,
  lacksEdits: true,
  picturesByAddress: true,
} satisfies Vendor;
