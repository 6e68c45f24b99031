import type { SurchargeFacts } from '../surcharges.ts';
import type { UpstreamTarget, Vendor } from '../vendor.ts';
import { plainTraits } from '../traits.ts';
import { leastCachedOf } from './models.ts';

export function anthropicPath(target: UpstreamTarget): string {
  return target.operation === 'count-tokens' ? '/messages/count_tokens' : '/messages';
}

export function anthropicHeaders(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { 'x-api-key': secret };
}

/**
 * Its "Pricing" page: fast mode, and inference in one region. Its priority tier is paid for beforehand. Prompts above
 * 200 000 tokens cost more on models whose window is larger only by beta.
 */
export const anthropicSurcharges: SurchargeFacts = {
  dear: ['speed.fast', 'inference_geo.*'],
  betas: [
    { prefix: 'fast-mode', term: 'speed.fast' },
    { prefix: 'context-1m', windowAbove: 200_000 },
  ],
};

export const anthropic = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  versionPath: '/v1',
  protocols: ['messages'],
  environmentKey: 'ANTHROPIC_API_KEY',
  ownedBy: 'anthropic',
  countsTokensIn: ['messages'],
  path: anthropicPath,
  headers: anthropicHeaders,
  surcharges: anthropicSurcharges,
  traitsOf: (model: string) => ({ ...plainTraits, leastCached: leastCachedOf(model) }),
} satisfies Vendor;
