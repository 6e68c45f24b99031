export { createBodyPool, type BodyPool, type RunningJob } from './body-pool.ts';
export type { ConvertedText, JobRequest, PatchedBody, RequestFacts } from './jobs.ts';
export { errorOf, isPlainError } from './plain-error.ts';
