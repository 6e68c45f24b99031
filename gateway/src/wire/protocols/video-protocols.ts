import type { VideoProtocolName } from '#canonical/index.ts';
import { videoContents, videoContentsList } from './video-contents/index.ts';
import { videoSynthesis } from './video-synthesis/index.ts';
import type { VideoList, VideoProtocol } from './video.ts';

/** The dialects of video tasks. */
export const videoProtocols: Readonly<Record<VideoProtocolName, VideoProtocol>> = Object.freeze({
  'video-synthesis': videoSynthesis,
  'video-contents': videoContents,
});

/** Only the second dialect lists tasks. */
export const videoList: VideoList = videoContentsList;
