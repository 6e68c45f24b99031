import { randomInt } from 'node:crypto';
import type { GatewayError } from '#errors/index.ts';
import type { VideoList, VideoProtocol } from '../shared/video/video.ts';
import { readListQuery, encodeAccepted, encodeTask, encodeTaskList } from './response.ts';
import { openRequest } from './request.ts';

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const randomLetters = 20;

/** Videos as Ark has them. */
export const videoContents: VideoProtocol = Object.freeze({
  name: 'video-contents',
  open: openRequest,
  newTaskId(now) {
    const stamp = new Date(now).toISOString().replaceAll(/\D/g, '').slice(0, 14);
    const random = Array.from({ length: randomLetters }, () => letters[randomInt(letters.length)]);
    return `cgt-${stamp}-${random.join('')}`;
  },
  isTaskId: (text) => /^cgt-\d{14}-[a-z0-9]{20}$/.test(text),
  encodeAccepted,
  encodeTask,
} satisfies VideoProtocol);

/** Their list. */
export const videoContentsList: VideoList = Object.freeze({ readListQuery, encodeTaskList });

/** One object, plus the id of the request. */
export function encodeError(error: GatewayError, requestId: string): string {
  const { message, param, entry } = error;
  return JSON.stringify({
    error: { code: codeOf(error), message, param: param ?? '', type: entry.type },
    request_id: requestId,
  });
}

function codeOf({ errorName, entry: { status, code } }: GatewayError): string {
  if (code === 'insufficient_quota') return 'QuotaExceeded';
  if (errorName === 'model_not_available' || errorName === 'model_unpriced') return 'ModelNotFound';
  switch (status) {
    case 401:
      return 'AuthenticationError';
    case 403:
      return errorName === 'model_disabled' ? 'ModelNotFound' : 'PermissionDenied';
    case 404:
      return 'InvalidTask';
    case 429:
      return 'RateLimitExceeded';
    case 529:
      return 'ServerOverloaded';
    default:
      return status >= 500 ? 'InternalServiceError' : 'InvalidParameter';
  }
}
