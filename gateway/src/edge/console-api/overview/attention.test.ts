import { describe, expect, test } from 'vitest';
import type { ChannelTraffic } from '#usage/index.ts';
import { verdictOf } from '../health/verdict.ts';
import { gatewayAttention } from './attention.ts';

const journal = { depth: 9_999, usable: true };
const time = Date.UTC(2026, 9, 1, 12);

/** @param hours attempts and failures of the last hours, the latest last */
function trafficOf(
  hours: readonly (readonly [attempts: number, failed: number])[],
  parts: Partial<ChannelTraffic> = {},
): ChannelTraffic {
  const sum = (at: 0 | 1) => hours.reduce((total, hour) => total + hour[at], 0);
  return {
    attempts: sum(0),
    failed: sum(1),
    hours: hours.map(([attempts, failed]) => ({ attempts, failed })),
    firstToken: null,
    errors: [],
    answeredAt: time,
    failing: null,
    lastFailure: null,
    ...parts,
  };
}

const failure = (blame: 'channel' | 'credential') => ({
  lastFailure: {
    id: 'req_1',
    time,
    error: blame === 'credential' ? 'credential-refused' : 'abnormal',
    blame,
    status: 500,
    text: null,
  },
});
const since = (attempts: number) => ({ failing: { since: time + 1, attempts } });

describe('what attempts say about a channel', () => {
  test.each([
    ['nothing was asked', undefined, 'unasked'],
    ['all of them answered', trafficOf([[5, 0]]), 'answers'],
    ['it has answered since', trafficOf([[5, 2]]), 'answers'],
    ['one failed after an answer', trafficOf([[100, 1]], since(1)), 'answers'],
    ['three failed after an answer', trafficOf([[100, 3]], since(3)), 'fails'],
    ['it has never answered', trafficOf([[1, 1]], { ...since(1), answeredAt: null }), 'fails'],
    [
      'its credential was refused',
      trafficOf([[9, 1]], { ...since(1), ...failure('credential') }),
      'fails',
    ],
    [
      'a tenth of the last hours failed',
      trafficOf([
        [20, 2],
        [10, 1],
      ]),
      'unsteady',
    ],
    ['less than a tenth did', trafficOf([[31, 3]]), 'answers'],
    [
      'failures are long ago',
      trafficOf([
        [9, 9],
        [5, 0],
        [5, 0],
      ]),
      'answers',
    ],
    [
      'it failed until it was asked no more',
      trafficOf(
        [
          [612, 612],
          [0, 0],
          [0, 0],
        ],
        since(612),
      ),
      'fails',
    ],
  ] as const)('%s', (_, traffic, verdict) => {
    expect(verdictOf(traffic)).toBe(verdict);
  });
});

test('channels that fail come first, those without traffic and unknown ones are left out', () => {
  const traffic = new Map([
    ['shaky', trafficOf([[10, 4]], failure('channel'))],
    ['azure-eu', trafficOf([[612, 612]], { ...since(612), ...failure('channel') })],
    ['removed', trafficOf([[3, 3]], since(3))],
    ['fine', trafficOf([[3, 0]])],
  ]);
  const names = ['fine', 'shaky', 'quiet', 'azure-eu'];
  expect(gatewayAttention(names, traffic, { journal })).toEqual([
    {
      kind: 'channel_failing',
      severity: 'failed',
      object: { kind: 'channel', name: 'azure-eu' },
      since: new Date(time + 1).toISOString(),
      count: 612,
      error: 'abnormal',
    },
    {
      kind: 'channel_unsteady',
      severity: 'warning',
      object: { kind: 'channel', name: 'shaky' },
      since: null,
      count: 4,
      error: 'abnormal',
    },
  ]);
});

test('a journal that grows is a warning, and one that takes nothing a failure', () => {
  const kinds = (state: typeof journal) =>
    gatewayAttention([], new Map(), { journal: state }).map(({ kind, severity }) => [
      kind,
      severity,
    ]);
  expect(kinds(journal)).toEqual([]);
  expect(kinds({ depth: 10_000, usable: true })).toEqual([['journal_growing', 'warning']]);
  expect(kinds({ depth: 0, usable: false })).toEqual([['journal_growing', 'failed']]);
});
