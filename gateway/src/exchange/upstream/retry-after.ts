import type { UpstreamHeaders } from './call.ts';

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
