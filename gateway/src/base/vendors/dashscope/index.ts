import { bearer } from '../openai/index.ts';
import { noSurcharges } from '../surcharges.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';
import { dashscopeTasks, synthesisPath } from './tasks.ts';

export { dashscopeTasks, synthesisPath } from './tasks.ts';

/** Alibaba Cloud Model Studio: video. */
export const dashscope = {
  name: 'dashscope',
  baseUrl: 'https://dashscope.aliyuncs.com/api/v1',
  versionPath: '/api/v1',
  protocols: ['video-synthesis'],
  environmentKey: 'DASHSCOPE_API_KEY',
  countsTokensIn: [],
  path({ protocol }: UpstreamTarget): string {
    if (protocol === 'video-synthesis') return synthesisPath;
    throw new TypeError(`Model Studio is not called for ${protocol}`);
  },
  headers: bearer,
  surcharges: noSurcharges,
  tasks: { 'video-synthesis': dashscopeTasks() },
} satisfies Vendor;
