import { describe, expect, test } from 'vitest';
import type { ChannelTraffic } from '#usage/index.ts';
import type { NodeState } from '../contract/health.ts';
import type { NodeHealth } from '../health/source.ts';
import { verdictOf } from '../health/verdict.ts';
import { gatewayAttention } from './attention.ts';

/** A live node of version 1, the first of which responds. */
function node(name: string, parts: Partial<NodeState> | null = {}): NodeHealth {
  const state: NodeState = {
    version: '1.0.0',
    host: name,
    worker: null,
    under_way: 0,
    lag_ms: 0,
    memory: { rss: 1, heap: 1 },
    journal: { depth: 9_999, usable: true },
    degraded: [],
    channels: { count: 0, first: [] },
    ...parts,
  };
  return {
    id: `node_${name}`,
    current: name === 'a',
    live: true,
    startedAt: 0,
    silentFor: 0,
    journalDepth: 0,
    state: parts === null ? null : state,
  };
}

/** Does not use these channels. */
const resting = (...names: string[]): Partial<NodeState> => ({
  channels: {
    count: names.length,
    first: names.map((name) => ({
      name,
      state: 'rests',
      credentials: { ready: 1, cooling: 0, disabled: 0 },
      rest_ms: 1_000,
    })),
  },
});

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
    ['two failed after an answer', trafficOf([[100, 2]], since(2)), 'answers'],
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
  expect(gatewayAttention(names, traffic, [node('a')])).toEqual([
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

describe('what nodes say needs attention', () => {
  const old = { version: '0.9.0' };
  const channel = (name: string) => ({ kind: 'channel', name });
  const named = (name: string) => ({ kind: 'node', name: `${name} node_${name}` });
  test.each<[string, readonly NodeHealth[], readonly object[]]>([
    ['all is well', [node('a'), node('b')], []],
    [
      'the journal of the only node grows',
      [node('a', { journal: { depth: 10_000, usable: true } })],
      [{ kind: 'journal_growing', severity: 'warning', object: null, count: 10_000 }],
    ],
    [
      'the journal of another node takes nothing',
      [node('a'), node('b', { journal: { depth: 3, usable: false } })],
      [{ kind: 'journal_full', severity: 'failed', object: named('b'), count: 3 }],
    ],
    [
      'a node runs another version',
      [node('a'), node('b', old)],
      [
        {
          kind: 'node_version',
          severity: 'warning',
          object: named('b'),
          versions: ['0.9.0', '1.0.0'],
        },
      ],
    ],
    ['one that is silent says nothing', [node('a'), { ...node('b', old), live: false }], []],
    ['an older version does not report its state', [node('a'), node('b', null)], []],
    [
      'a channel rests on two of three nodes',
      [node('a', resting('x')), node('b', resting('x', 'removed')), node('c')],
      [{ kind: 'channel_resting', object: channel('x'), count: 2, of: 3 }],
    ],
    ['the only node rests it', [node('a', resting('x'))], []],
    [
      'its attempts say more',
      [node('a', resting('fails')), node('b')],
      [{ kind: 'channel_failing' }],
    ],
  ])('%s', (_, nodes, expected) => {
    const traffic = new Map([['fails', trafficOf([[5, 5]], since(5))]]);
    const failing = expected.some((each) => 'kind' in each && each.kind === 'channel_failing');
    const views = gatewayAttention(['x', 'fails'], failing ? traffic : new Map(), nodes);
    expect(views).toEqual(expected.map((each) => expect.objectContaining(each)));
  });
});
