import { bearer } from '../openai/index.ts';
import { noSurcharges } from '../surcharges.ts';
import type { Vendor, VendorPaths, FaultTable } from '../vendor.ts';
import { dashscopeTasks, synthesisPath } from './tasks.ts';

/** https://help.aliyun.com/zh/model-studio/error-code: also with a detail after a dot, and on the chat endpoint. */
export const dashscopeFaults: FaultTable = {
  words: {
    InvalidParameter: 400,
    InvalidURL: 400,
    AccessDenied: 403,
    Throttling: 429,
    LimitRequests: 429,
    InternalError: 500,
    ModelUnavailable: 503,

    // The account owes money, or has used up what was free.
    Arrearage: 'account',
    AllocationQuota: 'account',
    CommodityNotPurchased: 'account',
    PrepaidBillOverdue: 'account',
    PostpaidBillOverdue: 'account',
    InvalidApiKey: 'account',
    'AccessDenied.Unpurchased': 'account',
    ModelNotFound: 'model_missing',
    'Model.AccessDenied': 'model_missing',
    DataInspectionFailed: 'content_policy',
    data_inspection_failed: 'content_policy',
  },
  texts: [
    // "Range of input length should be [1, 30720]"
    [/range of input length/i, 'context_overflow'],
    // With the code `AllocationQuota.FreeTierOnly`.
    [/free (tier|quota) of the model has been exhausted/i, 'account'],
  ],
};

export { dashscopeTasks } from './tasks.ts';

export const dashscopePaths = {
  'video-synthesis': { generate: synthesisPath },
} satisfies VendorPaths;

/** Alibaba Cloud Model Studio: video. */
export const dashscope = {
  name: 'dashscope',
  baseUrl: 'https://dashscope.aliyuncs.com/api/v1',
  versionPath: '/api/v1',
  protocols: ['video-synthesis'],
  environmentKey: 'DASHSCOPE_API_KEY',
  countsTokensIn: [],
  paths: dashscopePaths,
  headers: bearer,
  surcharges: noSurcharges,
  tasks: { 'video-synthesis': dashscopeTasks() },
} satisfies Vendor;
