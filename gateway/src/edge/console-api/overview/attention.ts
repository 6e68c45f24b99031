import { isPriced, type CatalogueSnapshot } from '#catalogue/index.ts';
import { formatUsd, type OpenDatabase } from '#database/index.ts';
import { keysSpent, keysThatEnd, teamBudgets } from '#identity/index.ts';
import { spentOf, windowOf } from '#ledger/index.ts';
import type { ChannelTraffic, NameFilters } from '#usage/index.ts';
import type { AttentionView } from '../contract/index.ts';
import { nameOfNode, restingChannels, sayingNodes } from '../health/fleet.ts';
import type { NodeHealth } from '../health/source.ts';
import { verdictOf } from '../health/verdict.ts';

type Db = OpenDatabase['kysely'];

const soon = 7 * 86_400_000;
/** Of a budget. */
const high = 0.8;
/** Usage records that wait for the database; usually there are a few. */
const manyRecords = 10_000;
/** Of each kind: a list of hundreds is no list of what to do. */
const most = 10;

/** What is wrong with the gateway itself: its channels, by what became of their attempts on all nodes, and its nodes. */
export function gatewayAttention(
  channels: readonly string[],
  traffic: ReadonlyMap<string, ChannelTraffic>,
  nodes: readonly NodeHealth[],
): AttentionView[] {
  const byTraffic = channelAttention(channels, traffic);
  return [
    ...byTraffic,
    ...restingAttention(
      // Attempts say more about a channel than that it rests.
      channels.filter((name) => !byTraffic.some(({ object }) => object?.name === name)),
      nodes,
    ),
    ...nodeAttention(nodes),
  ];
}

/** Channels that some nodes of several do not use as usual. */
function restingAttention(
  channels: readonly string[],
  nodes: readonly NodeHealth[],
): AttentionView[] {
  return restingChannels(nodes)
    .filter(({ channel, of }) => of > 1 && channels.includes(channel))
    .slice(0, most)
    .map(({ channel, nodes: count, of }) => ({
      kind: 'channel_resting',
      severity: 'warning',
      object: { kind: 'channel', name: channel },
      since: null,
      count,
      of,
    }));
}

/** Live nodes whose journal fails or grows, and those of another version than this one. */
function nodeAttention(nodes: readonly NodeHealth[]): AttentionView[] {
  const saying = sayingNodes(nodes);
  const version = saying.find(({ current }) => current)?.state.version;
  return saying
    .flatMap((node): AttentionView[] => {
      const { journal, version: itsVersion } = node.state;
      // A gateway of one node needs no name.
      const object = nodes.length > 1 ? { kind: 'node' as const, name: nameOfNode(node) } : null;
      return [
        ...(journal.usable && journal.depth < manyRecords
          ? []
          : [
              {
                kind: journal.usable ? ('journal_growing' as const) : ('journal_full' as const),
                severity: journal.usable ? ('warning' as const) : ('failed' as const),
                object,
                since: null,
                count: journal.depth,
              },
            ]),
        ...(version === undefined || itsVersion === version
          ? []
          : [
              {
                kind: 'node_version' as const,
                severity: 'warning' as const,
                object,
                since: null,
                versions: [itsVersion, version],
              },
            ]),
      ];
    })
    .toSorted((a, b) => (a.severity < b.severity ? -1 : 1))
    .slice(0, most);
}

function channelAttention(
  channels: readonly string[],
  traffic: ReadonlyMap<string, ChannelTraffic>,
): AttentionView[] {
  const views = channels.flatMap((name): AttentionView[] => {
    const one = traffic.get(name);
    const verdict = verdictOf(one);
    if (one === undefined || (verdict !== 'fails' && verdict !== 'unsteady')) return [];
    const fails = verdict === 'fails' && one.failing !== null;
    return [
      {
        kind: fails ? 'channel_failing' : 'channel_unsteady',
        severity: fails ? 'failed' : 'warning',
        object: { kind: 'channel', name },
        since: fails ? new Date(one.failing.since).toISOString() : null,
        count: fails ? one.failing.attempts : one.failed,
        ...(one.lastFailure !== null && { error: one.lastFailure.error }),
      },
    ];
  });
  return views.toSorted((a, b) => (a.severity < b.severity ? -1 : 1)).slice(0, most);
}

/** Models that cannot be charged. */
export function priceAttention(
  snapshot: Pick<CatalogueSnapshot, 'models' | 'aliases' | 'routes'>,
): AttentionView[] {
  return withoutPrice(snapshot)
    .slice(0, most)
    .map((id) => ({
      kind: 'price_missing',
      severity: 'warning',
      object: { kind: 'model', name: id },
      since: null,
    }));
}

/** The ids of models that channels serve and that cannot be charged. */
function withoutPrice({
  models,
  aliases,
  routes,
}: Pick<CatalogueSnapshot, 'models' | 'aliases' | 'routes'>): string[] {
  const names = [...routes.values()].flatMap((byName) => [...byName.keys()]);
  const servedModels = new Set(names.map((name) => aliases.get(name) ?? name));
  return [...servedModels].filter((id) => {
    const model = models.get(id);
    return model !== undefined && model.enabled && !isPriced(model);
  });
}

/** Keys that end soon and budgets that are nearly spent, of those that the person may see. */
export async function accountAttention(
  db: Db,
  scope: Pick<NameFilters, 'userId' | 'teamIds'>,
  now: number,
): Promise<AttentionView[]> {
  return [
    ...(await highBudgets(db, scope, now)),
    ...(await exhaustedKeys(db, scope)),
    ...(await expiringKeys(db, scope, now)),
  ];
}

/** Keys that are refused because they have spent their quota. */
async function exhaustedKeys(
  db: Db,
  { userId }: Pick<NameFilters, 'userId' | 'teamIds'>,
): Promise<AttentionView[]> {
  const keys = await keysSpent(db, { userId, limit: most });
  return keys.map(({ name, quota, spent }) => ({
    kind: 'key_exhausted',
    severity: 'failed',
    object: { kind: 'key', name },
    since: null,
    spent: formatUsd(spent),
    limit: formatUsd(quota),
  }));
}

async function expiringKeys(
  db: Db,
  { userId }: Pick<NameFilters, 'userId'>,
  now: number,
): Promise<AttentionView[]> {
  const keys = await keysThatEnd(db, { userId, after: now, before: now + soon, limit: most });
  return keys.map(({ name, endsAt }) => ({
    kind: 'key_expiring',
    severity: 'warning',
    object: { kind: 'key', name },
    since: new Date(endsAt).toISOString(),
  }));
}

async function highBudgets(
  db: Db,
  { userId, teamIds = [] }: Pick<NameFilters, 'userId' | 'teamIds'>,
  now: number,
): Promise<AttentionView[]> {
  const teams = await teamBudgets(db, userId === undefined ? undefined : teamIds);
  const budgets = teams.flatMap(({ id, name, clock, ...limits }) => {
    const date = windowOf(clock, now);
    const windows = {
      daily: `daily:${date}`,
      monthly: `monthly:${date.slice(0, 7)}`,
      total: 'total',
    };
    return (['daily', 'monthly', 'total'] as const).flatMap((window) => {
      const limit = limits[window];
      return limit === null
        ? []
        : [{ name, window, limit, meter: `team:${id}:${windows[window]}` }];
    });
  });
  const spent = await spentOf(
    db,
    budgets.map(({ meter }) => meter),
  );
  return budgets
    .map((budget) => ({ ...budget, spent: spent.get(budget.meter) ?? 0n }))
    .filter((budget) => Number(budget.spent) >= high * Number(budget.limit))
    .slice(0, most)
    .map((budget) => ({
      kind: 'budget_high',
      severity: budget.spent >= budget.limit ? 'failed' : 'warning',
      object: { kind: 'team', name: budget.name },
      since: null,
      spent: formatUsd(budget.spent),
      limit: formatUsd(budget.limit),
      window: budget.window,
    }));
}
