import { randomUUID } from 'node:crypto';
import type { VideoProtocol } from '../shared/video/video.ts';
import { openRequest } from './request.ts';
import { encodeAccepted, encodeTask } from './response.ts';

/** Videos as Model Studio has them. */
export const videoSynthesis: VideoProtocol = Object.freeze({
  name: 'video-synthesis',
  open: openRequest,
  newTaskId: () => randomUUID(),
  isTaskId: (text) => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/.test(text),
  encodeAccepted,
  encodeTask,
} satisfies VideoProtocol);
