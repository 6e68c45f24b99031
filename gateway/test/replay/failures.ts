import type { ErrorName } from '#errors/index.ts';
import type { Recording } from '../recordings/recordings.ts';
import { isStream } from './recorded-request.ts';

/** What a client gets for a recorded error status, unless an entry below differs. */
const byStatus: Readonly<Record<number, ErrorName>> = {
  400: 'upstream_rejected',
  401: 'upstream_credential_refused',
  403: 'upstream_abnormal',
  404: 'model_not_available',
  429: 'channels_rate_limited',
};

/**
 * Recordings that a client cannot be given as they are although their status may be 200, or whose status alone
 * does not say what they mean; with the reason.
 */
const byId: Readonly<Record<string, readonly [error: ErrorName, reason: string]>> = {
  'chat-azure-json-a73ab9f8': ['content_policy', 'an error of the filter in the body of a 200'],
  'chat-deepseek-json-400-1efe151a': ['context_too_long', 'beyond the window'],
  'chat-demo-proxy-json-d03e5dc6': ['upstream_abnormal', 'the body of the 200 is plain text'],
  'chat-ollama-cloud-json-400-a4931673': ['context_too_long', 'beyond the window'],
  'chat-perplexity-json-400-d8a7bc4d': ['context_too_long', 'beyond the window'],
  'generate-content-google-json-31f5e1c0': ['upstream_abnormal', 'a stream without alt=sse'],
  'generate-content-google-json-9b47778d': ['upstream_abnormal', 'a stream without alt=sse'],
  'generate-content-google-json-400-f1e32131': [
    'upstream_credential_refused',
    "the channel's key is wrong",
  ],
  'generate-content-vertex-ai-json-5d8bed3c': ['upstream_abnormal', 'a stream without alt=sse'],
  'generate-content-vertex-ai-json-e94f24ea': [
    'upstream_abnormal',
    "wrapped by the recorder's client",
  ],
  'responses-openai-json-400-f942c4e2': ['upstream_rejected_field', "names the client's field"],
  'responses-openai-stream-3133e573': [
    'upstream_credential_refused',
    "fails before any content: the account's quota, reported by an event",
  ],
  'responses-xai-json-400-981ed97b': ['upstream_credential_refused', "the channel's key is wrong"],
};

/** The catalogue's error that a recording becomes as a whole response; null for the ones passed on. */
export function errorOf({ id, status }: Recording): ErrorName | null {
  const known = byId[id]?.[0];
  if (known !== undefined || status < 400) return known ?? null;
  return byStatus[status] ?? 'upstream_abnormal';
}

/** Fails after the client has been shown content, so that the error travels inside its stream. */
export function breaksInside(recording: Recording): boolean {
  return (
    isStream(recording) &&
    errorOf(recording) === null &&
    /error (object|event) inside the stream/.test(recording.notes)
  );
}

/** Ends otherwise than it was recorded. */
export function failsSomehow(recording: Recording): boolean {
  return errorOf(recording) !== null || breaksInside(recording);
}

/** Words of the protocols themselves: our own errors use them too. */
const vocabulary: ReadonlySet<string> = new Set([
  'api_error',
  'authentication_error',
  'invalid_request_error',
  'INVALID_ARGUMENT',
  'RESOURCE_EXHAUSTED',
  'type.googleapis.com/google.rpc.RetryInfo',
]);

/** Every text of an upstream's error that would be recognised in another one; `allowed` may be repeated. */
export function upstreamTexts(value: unknown, allowed: string): string[] {
  if (typeof value === 'string') {
    return value.length <= 5 || vocabulary.has(value) || value === allowed ? [] : [value];
  }
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap((inner) => upstreamTexts(inner, allowed));
}
