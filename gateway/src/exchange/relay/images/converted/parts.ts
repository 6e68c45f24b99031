import type { TextProtocolName } from '#canonical/index.ts';
import type { Protocol } from '#protocols/index.ts';
import type { GuardedFetch } from '#upstream/index.ts';
import type { ImageParts } from '../parts.ts';

/** What pictures in text protocols need. */
export interface PictureParts extends ImageParts {
  readonly protocols: Readonly<
    Record<TextProtocolName, Pick<Protocol, 'keepAlive' | 'encodeStreamError'>>
  >;
  /** Fetches a picture that is named by its address. */
  readonly fetchMedia: GuardedFetch;
}
