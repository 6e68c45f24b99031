import { brokenEndingIn } from '#protocols/index.ts';
import { type Classification, classifyFailure } from '#vendors/index.ts';
import { retryAfterOf, type UpstreamHeaders } from '#upstream/index.ts';
import type { AttemptFailure } from './outcome.ts';

/** How many bytes of an error response are read: enough to classify it. */
export const errorBodyLimit = 64 * 1024;

const partialContent = 206;

/**
 * Does the status mean that there is no result? Partial content (206) counts as an error too, because nobody asked for
 * a range (RFC 9110, 15.3.7).
 */
export function isError(status: number): boolean {
  return status < 200 || status > 299 || status === partialContent;
}

/** Classifies an upstream's error response. Its text is not passed on. */
export function failureOfResponse(
  status: number | null,
  headers: UpstreamHeaders,
  body: unknown,
): AttemptFailure {
  const ending = brokenEndingIn(body);
  const classification = ending?.isSpoilt
    ? spoilt
    : classifyFailure({ status, body, retryAfter: retryAfterOf(headers) });
  const result =
    ending?.result ?? (classification.kind === 'client' ? classification.error : classification.as);
  return { kind: 'failed', class: 'started', classification, status, result, stale: false };
}

const spoilt: Classification = Object.freeze({ kind: 'failover', as: 'abnormal', blame: 'none' });

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // Not JSON (an HTML page, an empty body): only the status is left to judge by.
    return null;
  }
}
