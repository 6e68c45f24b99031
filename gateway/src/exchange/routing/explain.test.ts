import { expect, test } from 'vitest';
import type { CatalogueSnapshot, Channel, Route } from '#catalogue/index.ts';
import type { RouteQuery } from './candidates.ts';
import { explainRoutes } from './explain.ts';
import { createChannelHealth } from './health.ts';

const channel = (name: string, fields: Partial<Channel> = {}): Channel =>
  ({
    id: name,
    name,
    provider: 'openai',
    baseUrl: `http://${name}.example.com/v1`,
    credentials: ['x'],
    protocols: ['chat'],
    groups: ['default'],
    priority: 0,
    weight: 1,
    userAgents: [],
    ...fields,
  }) as Channel;

const snapshotOf = (served: Readonly<Record<string, readonly Channel[]>>): CatalogueSnapshot => {
  const routes = new Map<string, Map<string, Route[]>>([
    ['default', new Map()],
    ['coding', new Map()],
  ]);
  const channels = [...new Set(Object.values(served).flat())];
  for (const [model, all] of Object.entries(served)) {
    for (const each of all) {
      for (const group of each.groups) {
        const byModel = routes.get(group)!;
        const list = byModel.get(model) ?? [];
        byModel.set(model, [...list, { channel: each, upstreamModel: model }]);
      }
    }
  }
  return { channels, routes } as unknown as CatalogueSnapshot;
};

const query: RouteQuery = {
  group: 'default',
  clientModel: 'gpt-5',
  servedNames: ['gpt-5'],
  protocol: 'chat',
  userAgent: 'curl/8',
};

const first = channel('first', { priority: 1 });
const light = channel('light');
const heavy = channel('heavy', { weight: 3 });
const snapshot = snapshotOf({
  'gpt-5': [
    light,
    heavy,
    first,
    channel('coding-only', { groups: ['coding'] }),
    channel('pictures', { protocols: ['images'] }),
    channel('for-agents', { userAgents: ['claude-cli/*'] }),
  ],
  'gpt-4': [channel('other-model')],
});

test('channels stand in the order in which requests ask them, and each other one has its reason', () => {
  const health = createChannelHealth(() => {});
  const { asked, others, lastResort } = explainRoutes(snapshot, query, health, 0);
  expect(asked.map(({ route, share, refusal }) => [route.channel.name, share, refusal])).toEqual([
    ['first', 1, null],
    ['heavy', 0, null],
    ['light', 0, null],
  ]);
  expect(Object.fromEntries(others.map(({ channel: { name }, reason }) => [name, reason]))).toEqual(
    {
      'coding-only': 'group',
      pictures: 'protocol',
      'for-agents': 'client',
      'other-model': 'model',
    },
  );
  expect(lastResort).toBe(null);
});

test('what pauses is passed over, and the next ones share by weight; explaining changes nothing', () => {
  const health = createChannelHealth(() => {});
  const route = { channel: first, upstreamModel: 'gpt-5' };
  const lease = health.lease(route, false, false, 0);
  if (!lease.admitted) throw new Error('not admitted');
  const refused = { kind: 'failover', as: 'abnormal', blame: 'credential' } as const;
  health.reportOutcome(lease, route, refused, 0);
  const explain = () => explainRoutes(snapshot, query, health, 1_000);
  const { asked } = explain();
  expect(asked).toEqual(explain().asked);
  expect(
    asked.map(
      ({
        route: {
          channel: { name },
        },
        share,
      }) => [name, share],
    ),
  ).toEqual([
    ['first', 0],
    ['heavy', 0.75],
    ['light', 0.25],
  ]);
  expect(asked[0]).toMatchObject({ refusal: 'credential-refused', rest: 59_000 });
  expect(health.read(first, 1_000).states).toEqual(['disabled']);
});

test('if all are passed over, one is asked anyway', () => {
  const health = createChannelHealth(() => {});
  const alone = snapshotOf({ 'gpt-5': [first] });
  const route = { channel: first, upstreamModel: 'gpt-5' };
  const fault = { kind: 'failover', as: 'abnormal', blame: 'channel' } as const;
  for (let n = 0; n < 5; n += 1) {
    const lease = health.lease(route, false, false, 0);
    if (lease.admitted) health.reportOutcome(lease, route, fault, 0);
  }
  const { asked, lastResort } = explainRoutes(alone, query, health, 1);
  expect(asked[0]).toMatchObject({ refusal: 'ejected', share: 0 });
  expect(lastResort?.name).toBe('first');
});
