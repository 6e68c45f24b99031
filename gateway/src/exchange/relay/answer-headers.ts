import type { Loss } from '#canonical/index.ts';
import { lossHeader } from '#conversion/index.ts';

/** Declared rewrites and losses are told to the client (`x-sluice-rewrites: b1,b2`). */
export function answerHeaders(
  rewrites: readonly string[],
  losses: readonly Loss[],
): Readonly<Record<string, string>> {
  if (losses.length === 0) {
    return rewrites.length === 0 ? {} : { 'x-sluice-rewrites': rewrites.join(',') };
  }
  const lost = lossHeader(losses);
  return {
    ...(rewrites.length > 0 && { 'x-sluice-rewrites': rewrites.join(',') }),
    ...(lost !== null && { 'x-sluice-conversion': lost }),
  };
}
