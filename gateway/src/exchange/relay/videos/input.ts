import type { VideoProtocolName } from '#canonical/index.ts';
import type { ExchangeInput } from '../exchange/input.ts';

/** A request for a video. The response names a task; the video comes later. */
export interface VideoInput extends ExchangeInput {
  readonly protocol: VideoProtocolName;
  readonly operation: 'generate';
}
