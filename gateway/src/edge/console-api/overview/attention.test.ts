import { expect, test } from 'vitest';
import { gatewayAttention } from './attention.ts';

const kindsOf = (state: Parameters<typeof gatewayAttention>[0]) =>
  gatewayAttention(state).map(({ kind, severity, object }) => [
    kind,
    severity,
    object?.name ?? null,
  ]);
const journal = { depth: 9_999, usable: true };

test('a channel that rests needs attention, also while it is tried again', () => {
  const channels = () =>
    (['closed', 'open', 'half-open'] as const).map((breaker) => ({
      channel: breaker,
      breaker,
      credentials: { disabled: 0 },
    }));
  expect(kindsOf({ channels, journal })).toEqual([
    ['channel_resting', 'failed', 'open'],
    ['channel_resting', 'failed', 'half-open'],
  ]);
});

test('a journal that grows is a warning, and one that takes nothing a failure', () => {
  const channels = () => [];
  expect(kindsOf({ channels, journal })).toEqual([]);
  expect(kindsOf({ channels, journal: { depth: 10_000, usable: true } })).toEqual([
    ['journal_growing', 'warning', null],
  ]);
  expect(kindsOf({ channels, journal: { depth: 0, usable: false } })).toEqual([
    ['journal_growing', 'failed', null],
  ]);
});
