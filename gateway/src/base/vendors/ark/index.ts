import { bearer } from '../openai/index.ts';
import { noSurcharges } from '../surcharges.ts';
import type { Vendor, VendorPaths, FaultTable } from '../vendor.ts';
import { arkTasks, contentsPath } from './tasks.ts';

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

export { arkTasks } from './tasks.ts';

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
