import { bearer } from '../openai/index.ts';
import {
  noSurcharges,
  type Vendor,
  type VendorPaths,
  type FaultTable,
  type TaskSide,
} from '../vendor.ts';
import type { TaskLook, TaskUsage } from '#canonical/index.ts';
import {
  addressOf,
  failureCodeOf,
  idOf,
  notReported,
  objectOf,
  plainMembers,
  stateOf,
  usageOf,
} from '../task-values.ts';

export const synthesisPath = '/services/aigc/video-generation/video-synthesis';

/** The vendor allows 20 looks per second and account; its own users look too. */
const looksPerSecond = 15;

/** @param base what comes before the paths of the vendor's documentation, after the base URL */
export function dashscopeTasks(base = ''): TaskSide {
  return {
    // With it, a look is refused.
    submitHeaders: { 'x-dashscope-async': 'enable' },
    readId: (body) => idOf(objectOf(objectOf(body)?.['output'])?.['task_id']),
    look: (id) => ({ method: 'GET', path: `${base}/tasks/${encodeURIComponent(id)}` }),
    readLook,
    looksPerSecond,
  };
}

function readLook(body: unknown): TaskLook | null {
  const output = objectOf(objectOf(body)?.['output']);
  const status = output?.['task_status'];
  if (output === null || typeof status !== 'string') return null;
  const state = stateOf(status);
  const usage = objectOf(objectOf(body)?.['usage']) ?? {};
  const code = state === 'failed' ? failureCodeOf(output['code']) : null;
  if (state !== 'succeeded') return { state, code, usage: notReported, members: {} };
  // Some models put it one level deeper.
  const video = addressOf(output['video_url'] ?? objectOf(output['results'])?.['video_url']);
  if (video === null) return { state: 'withheld', code, usage: secondsOf(usage), members: {} };
  return {
    state,
    code,
    usage: secondsOf(usage),
    members: {
      output: { video_url: video, ...plainMembers(output, ['orig_prompt', 'actual_prompt']) },
      usage: plainMembers(usage, shownUsage),
    },
  };
}

const shownUsage = [
  'duration',
  'output_video_duration',
  'input_video_duration',
  'video_duration',
  'video_ratio',
  'video_count',
  'SR',
  'size',
  'ratio',
];

/** Generations of models name the seconds differently; the first positive one is what the vendor bills. */
function secondsOf(usage: Readonly<Record<string, unknown>>): TaskUsage {
  const reportedSeconds = ['duration', 'output_video_duration', 'video_duration'].map((name) =>
    usageOf(usage[name], 1_000),
  );
  return (
    reportedSeconds.find(({ quantity }) => (quantity ?? 0) > 0) ??
    reportedSeconds.find(({ isImplausible }) => isImplausible) ??
    notReported
  );
}

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
  keyBeginnings: ['sk-'],
  countsTokensIn: [],
  paths: dashscopePaths,
  headers: bearer,
  surcharges: noSurcharges,
  tasks: { 'video-synthesis': dashscopeTasks() },
} satisfies Vendor;
