import type { ImageResponse } from '#protocols/index.ts';
import type { Unreadable } from './unreadable.ts';

/** What a thread made of a complete response with pictures. */
export type ImageResult =
  | (Omit<ImageResponse, 'body'> & {
      readonly kind: 'whole';
      /** For the client. */
      readonly body: Uint8Array;
    })
  | Unreadable;
