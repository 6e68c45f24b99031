import type { Vendor } from '#vendors/index.ts';
import type { UpstreamHeaders } from '#upstream/index.ts';
import type { AttemptFailure } from './outcome.ts';

/** As much of an error response as is read: enough to classify it. */
export const errorBodyLimit = 64 * 1024;

const partialContent = 206;

/**
 * Is it the status of a response without a result? A partial one has none: nobody asked for a range (RFC 9110,
 * 15.3.7).
 */
export function isError(status: number): boolean {
  return status < 200 || status > 299 || status === partialContent;
}

/** Judges an upstream's error response. Its text goes no further than this. */
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
    // Not JSON (an HTML page, nothing at all): the status alone has to do.
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
