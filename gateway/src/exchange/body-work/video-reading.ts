import type { VideoRequest } from '#protocols/index.ts';
import type { PlainError } from './plain-error.ts';

/** What the main thread learns about a request for a video that it has not parsed. */
export type VideoReading =
  | (Omit<VideoRequest, 'body'> & {
      readonly model: string;
      /** To be sent, without the name of the model. */
      readonly body: Uint8Array;
      /** Where in it the name goes. */
      readonly modelAt: number;
    })
  | {
      readonly model: string;
      /** Why the request is refused. The model is checked first. */
      readonly refusal: PlainError;
    };
