import { bearer } from '../openai/index.ts';
import {
  noSurcharges,
  type Vendor,
  type VendorPaths,
  type FaultTable,
  type TaskSide,
} from '../vendor.ts';
import type { TaskLook } from '#canonical/index.ts';
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

export const contentsPath = '/contents/generations/tasks';

/** Far below what the vendor allows: each asks for many tasks. */
const looksPerSecond = 5;
/** The vendor lists up to 500, but addresses have limits. */
const mostListed = 100;

/** @param base what comes before the paths of the vendor's documentation, after the base URL */
export function arkTasks(base = ''): TaskSide {
  const taskPath = (id: string) => `${base}${contentsPath}/${encodeURIComponent(id)}`;
  return {
    submitHeaders: {},
    readId: (body) => idOf(objectOf(body)?.['id']),
    look: (id) => ({ method: 'GET', path: taskPath(id) }),
    readLook,
    list: {
      most: mostListed,
      call(ids) {
        const idParameters = ids.map((id) => `&filter.task_ids=${encodeURIComponent(id)}`).join('');
        const page = `page_num=1&page_size=${mostListed}`;
        return { method: 'GET', path: `${base}${contentsPath}?${page}${idParameters}` };
      },
      read: readList,
    },
    cancel: (id) => ({ method: 'DELETE', path: taskPath(id) }),
    looksPerSecond,
  };
}

function readList(body: unknown): ReadonlyMap<string, TaskLook> | null {
  const items = objectOf(body)?.['items'];
  if (!Array.isArray(items)) return null;
  const looks = new Map<string, TaskLook>();
  for (const item of items) {
    const id = idOf(objectOf(item)?.['id']);
    const look = readLook(item);
    if (id !== null && look !== null) looks.set(id, look);
  }
  return looks;
}

function readLook(body: unknown): TaskLook | null {
  const task = objectOf(body);
  const status = task?.['status'];
  if (task === null || typeof status !== 'string') return null;
  const state = stateOf(status);
  const code = state === 'failed' ? failureCodeOf(objectOf(task['error'])?.['code']) : null;
  const members = plainMembers(task, shownMembers);
  if (state !== 'succeeded') return { state, code, usage: notReported, members };
  const content = contentOf(task['content']);
  // Some compatible servers leave the sum out: a video has no other tokens than those of its answer.
  const reportedUsage = objectOf(task['usage']);
  const usage = usageOf(reportedUsage?.['total_tokens'] ?? reportedUsage?.['completion_tokens'], 1);
  if (content === null) return { state: 'withheld', code, usage, members };
  return { state, code, usage, members: { ...members, content } };
}

/** What the request asked for and clients are shown of the answer, by the vendor's names. */
const shownMembers = [
  'seed',
  'resolution',
  'ratio',
  'duration',
  'frames',
  'framespersecond',
  'service_tier',
  'generate_audio',
  'draft',
  'output_format',
  'fileformat',
  'revised_prompt',
];

/** The addresses in the answer; null without a video. */
function contentOf(value: unknown): Record<string, string> | null {
  const content = objectOf(value) ?? {};
  const values: Record<string, string> = {};
  for (const name of ['video_url', 'last_frame_url', 'file_url']) {
    const address = addressOf(content[name]);
    if (address !== null) values[name] = address;
  }
  return 'video_url' in values || 'file_url' in values ? values : null;
}

/** https://www.volcengine.com/docs/82379/1299023: some codes have a detail after a dot. */
export const arkFaults: FaultTable = {
  words: {
    MissingParameter: 400,
    AuthenticationError: 401,
    RateLimitExceeded: 429,
    // With 429, although no client of ours was too fast.
    ServerOverloaded: 'overloaded',

    // With 403: the account owes money.
    AccountOverdueError: 'account',
    'OperationDenied.ServiceOverdue': 'account',
    // With 429: what the operator allowed this model, or what was free, is used up.
    SetLimitExceeded: 'account',
    QuotaExceeded: 'account',
    // With 404: "Your account has not activated the model."
    ModelNotOpen: 'model_missing',
    'OperationDenied.ServiceNotOpen': 'model_missing',
    InvalidEndpointOrModel: 'model_missing',
    UnsupportedModel: 'model_missing',
    InputTextSensitiveContentDetected: 'content_policy',
    InputImageSensitiveContentDetected: 'content_policy',
    OutputImageSensitiveContentDetected: 'content_policy',
  },
  texts: [
    // "Total tokens of image and text exceed max message tokens."
    [/tokens of image and text exceed max message tokens/i, 'context_overflow'],
  ],
};

export const arkPaths = {
  images: { generate: '/images/generations' },
  'video-contents': { generate: contentsPath },
} satisfies VendorPaths;

/** Volcengine Ark, and BytePlus at an address of its own: images and video. */
export const ark = {
  name: 'ark',
  baseUrl: 'https://ark.cn-beijing.volces.com/api/v3',
  versionPath: '/api/v3',
  protocols: ['video-contents', 'images'],
  environmentKey: 'ARK_API_KEY',
  countsTokensIn: [],
  paths: arkPaths,
  headers: bearer,
  surcharges: noSurcharges,
  lacksEdits: true,
  imagesByAddress: true,
  tasks: { 'video-contents': arkTasks() },
} satisfies Vendor;
