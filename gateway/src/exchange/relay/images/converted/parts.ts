import type { FetchMedia } from '#conversion/index.ts';
import type { ImageParts } from '../parts.ts';

/** What pictures in text protocols need. */
export interface PictureParts extends ImageParts {
  /** Fetches a picture that is named by its address, with a guarded client. */
  readonly fetchPicture: FetchMedia;
}
