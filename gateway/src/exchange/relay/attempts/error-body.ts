import type { Vendor } from '#vendors/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
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
  vendor: Vendor,
  status: number | null,
  headers: UpstreamHeaders,
  body: unknown,
): AttemptFailure {
  const classification = vendor.classify({ status, body, retryAfter: retryAfterOf(headers) });
  const result = classification.kind === 'client' ? classification.error : classification.as;
  return { kind: 'failed', class: 'started', classification, status, result, stale: false };
}

export function parseJson(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    // Not JSON (an HTML page, an empty body): only the status is left to judge by.
    return null;
  }
}

/** Seconds until the upstream wants to be asked again (RFC 9110 section 10.2.3), or null. */
export function retryAfterOf(headers: UpstreamHeaders, now = Date.now()): number | null {
  const milliseconds = Number(text(headers['retry-after-ms']) ?? Number.NaN);
  if (Number.isFinite(milliseconds) && milliseconds > 0) return milliseconds / 1000;
  const value = text(headers['retry-after']);
  if (value === undefined || value === '') return null;
  const seconds = Number(value);
  if (Number.isFinite(seconds)) return seconds >= 0 ? seconds : null;
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

function text(value: string | string[] | undefined): string | undefined {
  return Array.isArray(value) ? value[0] : value;
}
