import type { DeclaredPrice } from '#config/index.ts';
import { bundle } from './entry.ts';

/** From Opus 4.7 on, models refuse sampling parameters. */
const decides = ['vision', 'tools', 'reasoning', 'hosted_tools'];
const can = ['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools'];

/**
 * Cache prices are multiples of the input price: 1.25 for writing for 5 minutes, 2 for an hour, 0.1 for reading, and less
 * for the newest models.
 */
const sonnet = withCachePrices('3', '0.3', '3.75', '6', '15');
/** The same for every prompt length. */
const million = 1_000_000;

export const anthropicModels = bundle('anthropic', [
  {
    id: 'claude-fable-5-2',
    name: 'Claude Fable 5.2',
    released: '2026-11-09',
    limits: [million, 128_000],
    can: decides,
    price: withCachePrices('8', '0.2', '10', '16', '40'),
  },
  {
    id: 'claude-opus-5-5',
    name: 'Claude Opus 5.5',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-sonnet-5-5',
    name: 'Claude Sonnet 5.5',
    released: '2026-09-28',
    limits: [million, 128_000],
    can: decides,
    price: withCachePrices('2', '0.1', '2.5', '4', '10'),
  },
  {
    id: 'claude-haiku-5-5',
    name: 'Claude Haiku 5.5',
    released: '2026-10-07',
    limits: [million, 128_000],
    can: decides,
    price: {
      ...withCachePrices('0.1', '0.01', '0.125', '0.2', '0.5'),
      tiers: [
        {
          above: 100_000,
          input: '0.5',
          cacheRead: '0.05',
          cacheWrite: '0.625',
          cacheWrite1h: '1',
          output: '2.5',
        },
      ],
    },
  },
  {
    id: 'claude-fable-5-1',
    name: 'Claude Fable 5.1',
    released: '2026-09-01',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-fable-5',
    name: 'Claude Fable 5',
    released: '2026-06-09',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-opus-5',
    name: 'Claude Opus 5',
    released: '2026-07-24',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-opus-4-8',
    name: 'Claude Opus 4.8',
    released: '2026-05-28',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-sonnet-5',
    name: 'Claude Sonnet 5',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-opus-4-7',
    name: 'Claude Opus 4.7',
    released: '2026-04-16',
    limits: [million, 128_000],
    can: decides,
  },
  {
    id: 'claude-opus-4-6',
    name: 'Claude Opus 4.6',
    released: '2026-02-05',
    limits: [million, 128_000],
    can,
  },
  {
    id: 'claude-sonnet-4-6',
    name: 'Claude Sonnet 4.6',
    released: '2026-02-17',
    limits: [million, 64_000],
    can,
  },
  {
    id: 'claude-opus-4-5',
    name: 'Claude Opus 4.5',
    released: '2025-11-24',
    limits: [200_000, 64_000],
    can,
  },
  {
    id: 'claude-sonnet-4-5',
    name: 'Claude Sonnet 4.5',
    released: '2025-09-29',
    limits: [200_000, 64_000],
    can,
    price: sonnet,
  },
  {
    id: 'claude-haiku-4-5',
    name: 'Claude Haiku 4.5',
    released: '2025-10-15',
    limits: [200_000, 64_000],
    can,
  },
]);

/** The dated names that clients have built in. */
export const anthropicAliases: Readonly<Record<string, string>> = {
  'claude-haiku-4-5-20251001': 'claude-haiku-4-5',
  'claude-sonnet-4-5-20250929': 'claude-sonnet-4-5',
  'claude-opus-4-5-20251101': 'claude-opus-4-5',
};

function withCachePrices(
  input: string,
  cacheRead: string,
  cacheWrite: string,
  cacheWrite1h: string,
  output: string,
): DeclaredPrice {
  return { input, cacheRead, cacheWrite, cacheWrite1h, output, fees: { web_search: '0.01' } };
}
