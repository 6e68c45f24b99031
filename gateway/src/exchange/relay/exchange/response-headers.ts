import { lossHeader } from '#conversion/index.ts';
import type { SentRequest } from './tried.ts';

const noHeaders: Readonly<Record<string, string>> = Object.freeze({});

/**
 * The headers that tell the client of rewrites and losses (`x-sluice-rewrites: b1,b2`).
 * @param sent the request whose response the client gets; null if there is none.
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
