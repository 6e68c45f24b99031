import { bearer } from '../openai/index.ts';
import { noSurcharges } from '../surcharges.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';
import { arkTasks, contentsPath } from './tasks.ts';

export { arkTasks, contentsPath } from './tasks.ts';

/** Volcengine Ark, and BytePlus at an address of its own: pictures and video. */
export const ark = {
  name: 'ark',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  versionPath: '/api/v3',
  protocols: ['video-contents', 'images'],
  environmentKey: 'ARK_API_KEY',
  countsTokensIn: [],
  path({ protocol }: UpstreamTarget): string {
    if (protocol === 'images') return '/images/generations';
    if (protocol === 'video-contents') return contentsPath;
    throw new TypeError(`Ark is not called for ${protocol}`);
  },
  headers: bearer,
  surcharges: noSurcharges,
  lacksEdits: true,
  picturesByAddress: true,
  tasks: { 'video-contents': arkTasks() },
} satisfies Vendor;
