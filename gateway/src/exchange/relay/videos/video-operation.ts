import { videoBound } from '#billing/index.ts';
import { findCandidates } from '#routing/index.ts';
import { routeQueryOf } from '../exchange/find-model.ts';
import type { Operation } from '../exchange/operation.ts';
import { answerVideo } from './answer-video.ts';
import { checkAudio } from './check-audio.ts';
import { openVideo } from './open-video.ts';
import type { CheckedVideo, PreparedVideo, VideoInput, VideoParts } from './prepared.ts';

/** Submits tasks that make videos. Whoever follows a task asks for it by its id. */
export function createVideoOperation(
  parts: VideoParts,
): Operation<VideoInput, CheckedVideo, PreparedVideo> {
  return {
    modelType: 'video',
    isFree: false,
    mayStream: false,
    // A task may last a day. All that is left would be out of its owner's reach for as long.
    holdsAll: true,
    open: (input) => openVideo(parts, input),
    authorize({ input }, checked) {
      const { audioUrl } = checked.request;
      if (audioUrl === null || !parts.checksAudio) return null;
      return async () => {
        await checkAudio(parts.fetchMedia, audioUrl, input.caller.keyId);
        return checked;
      };
    },
    bound: (_exchange, { request }, rates) => videoBound(rates, request.demand),
    prepare({ input }, { request, resolved }) {
      const query = routeQueryOf(input, resolved);
      return { request, routes: findCandidates(resolved.snapshot, query, parts.random) };
    },
    answer: (exchange, prepared) => answerVideo(parts, exchange, prepared),
  };
}
