import { randomInt } from 'node:crypto';
import type { VideoList, VideoProtocol } from '../shared/video/video.ts';
import { readListQuery } from './list-query.ts';
import { openRequest } from './request.ts';
import { encodeAccepted, encodeTask, encodeTaskList } from './response.ts';

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
