export type { ResponseResult } from './response-result.ts';
export { createBodyPool, type BodyPool, type RunningJob } from './body-pool.ts';
export type { ConvertedText, Job, JobRequest, PatchedBody, RequestFacts } from './jobs.ts';
export { beginsAsEvents, beginsAsJson, streamOf, type WireProtocol } from './other-form.ts';
export { errorOf, isPlainError } from './plain-error.ts';
export { largestResponse as largestAnswer, readWholeResponse } from './read-response.ts';
export { termsOf, textOfTerms } from './terms-text.ts';
export type { EmbedFacts } from './embed-result.ts';
export { unreadableOf } from './unreadable.ts';
