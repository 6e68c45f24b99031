import { randomUUID } from 'node:crypto';
import type { GatewayError } from '#errors/index.ts';
import type { VideoProtocol } from '../shared/video/video.ts';
import { openRequest } from './request.ts';
import { encodeAccepted, encodeTask, uuidOf } from './response.ts';

/** Videos as Model Studio has them. */
export const videoSynthesis: VideoProtocol = Object.freeze({
  name: 'video-synthesis',
  open: openRequest,
  newTaskId: () => randomUUID(),
  isTaskId: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text),
  encodeAccepted,
  encodeTask,
} satisfies VideoProtocol);

/** The vendor's flat members, plus chat's error object. */
export function encodeError(error: GatewayError, requestId: string): string {
  const { message, param, entry } = error;
  const code = codeOf(entry.status);
  return JSON.stringify({
    request_id: uuidOf(requestId),
    code,
    message,
    error: { message, type: entry.type, param, code: entry.code },
  });
}

function codeOf(status: number): string {
  switch (status) {
    case 401:
      return 'InvalidApiKey';
    case 402:
      return 'Arrearage';
    case 403:
      return 'AccessDenied';
    case 404:
      return 'InvalidTask';
    case 429:
      return 'Throttling';
    default:
      return status >= 500 ? 'InternalError' : 'InvalidParameter';
  }
}
