import type { ModelEcho, PictureStreamTap } from '#protocols/index.ts';
import type { PictureEvents } from '../image-stream-attempt.ts';
import type { StreamMeter } from '../stream-meter.ts';

/** How clients of a protocol get their pictures in a stream. */
export interface StreamedPictures extends PictureEvents {
  /** @param accepts whether a picture may be shown */
  createTap(echo: ModelEcho, accepts: StreamMeter['accepts']): PictureStreamTap;
}
