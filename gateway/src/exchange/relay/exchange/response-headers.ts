import { lossHeader } from '#conversion/index.ts';
import type { SentRequest } from './tried.ts';

const noHeaders: Readonly<Record<string, string>> = Object.freeze({});

/**
 * Declared rewrites and losses, as the client reads them (`x-sluice-rewrites: b1,b2`).
 * @param sent what was answered; null when no upstream did.
 */
export function responseHeaders(
  sent: Pick<SentRequest, 'rewrites' | 'losses'> | null,
): Readonly<Record<string, string>> {
  if (sent === null) return noHeaders;
  const { rewrites, losses } = sent;
  if (losses.length === 0) {
    return rewrites.length === 0 ? noHeaders : { 'x-sluice-rewrites': rewrites.join(',') };
  }
  const lost = lossHeader(losses);
  return {
    ...(rewrites.length > 0 && { 'x-sluice-rewrites': rewrites.join(',') }),
    ...(lost !== null && { 'x-sluice-conversion': lost }),
  };
}
