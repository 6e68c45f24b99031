export type { AnswerResult } from './answer-result.ts';
export { createBodyPool, type BodyPool, type RunningJob } from './body-pool.ts';
export type { ConvertedText, Job, JobRequest, PatchedBody, RequestFacts } from './jobs.ts';
export { beginsAsEvents, beginsAsJson, streamOf, type WireProtocol } from './other-form.ts';
export { errorOf, isPlainError } from './plain-error.ts';
export { largestAnswer, readWholeAnswer } from './read-answer.ts';
export { termsOf, textOfTerms } from './terms-text.ts';
