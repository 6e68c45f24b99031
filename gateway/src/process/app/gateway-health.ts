import { hostname } from 'node:os';
import {
  channelStateOf,
  type HealthSource,
  nodeState,
  type NodeHealth,
  type NodeState,
} from '#console-api/index.ts';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { RevisionWatch } from '#database/index.ts';
import type { Money, Rates } from '#limits/index.ts';
import { allNodes, nodeRules } from '#nodes/index.ts';
import type { ChannelHealth } from '#routing/index.ts';
import { clock } from './clock.ts';
import type { Serving } from './serving.ts';
import type { Storage } from './storage.ts';

export interface GatewayHealthOptions extends Pick<
  Storage,
  'database' | 'nodes' | 'nodeId' | 'journal'
> {
  readonly version: string;
  /** Null: this process is the only one of its node. */
  readonly worker: NodeState['worker'];
  readonly snapshot: () => Pick<CatalogueSnapshot, 'channels'>;
  readonly revisions: Pick<RevisionWatch, 'problem' | 'isOutdated'>;
  readonly money: Pick<Money, 'isAway'>;
  readonly rates: Pick<Rates, 'degraded' | 'server'>;
  readonly health: Pick<ChannelHealth, 'read'>;
  /** Degraded components of this process, in words. */
  readonly problems: () => readonly string[];
  /** Those of all workers too. */
  readonly degraded: () => readonly string[];
  readonly serving: () => Pick<Serving, 'refusalReason' | 'inFlight' | 'lag'>;
}

/** In a sign of life, which goes to the database every ten seconds: an installation may have hundreds of channels. */
const mostChannels = 50;
const mostProblems = 10;
/** Characters. */
const longestProblem = 200;

/** How the gateway is: for its console, and for the other nodes. */
export interface GatewayHealth extends HealthSource {
  /** How this process is. */
  readonly state: () => NodeState;
}

export function createGatewayHealth(options: GatewayHealthOptions): GatewayHealth {
  const { database, nodes, nodeId, journal, revisions, money, rates, health } = options;
  const startedAt = clock.now();
  const host = hostname();

  function databaseState(): 'works' | 'read-only' | 'away' {
    if (revisions.problem !== null) return 'away';
    if (revisions.isOutdated) return 'read-only';
    return nodes.writes && !money.isAway && !journal.isAway ? 'works' : 'read-only';
  }

  const journalState = () => ({ usable: journal.usable, depth: journal.depth });

  function state(): NodeState {
    const { inFlight, lag } = options.serving();
    const { rss, heapUsed } = memoryUsage();
    const unwell = options
      .snapshot()
      .channels.map((channel) => health.read(channel, clock.monotonic()))
      .map((reading) => ({ ...reading, state: channelStateOf(reading) }))
      .filter(({ state: use, credentials }) => {
        return use !== 'works' || credentials.cooling + credentials.disabled > 0;
      })
      // By name, so that nodes with many of them leave out the same ones.
      .toSorted((a, b) => (a.channel < b.channel ? -1 : 1));
    return {
      version: options.version,
      host,
      worker: options.worker,
      under_way: inFlight,
      lag_ms: Math.round(lag),
      memory: { rss, heap: heapUsed },
      journal: journalState(),
      degraded: options
        .problems()
        .slice(0, mostProblems)
        .map((word) => word.slice(0, longestProblem)),
      channels: {
        count: unwell.length,
        first: unwell.slice(0, mostChannels).map(({ channel, state: use, credentials, rest }) => ({
          name: channel,
          state: use,
          credentials: { ...credentials },
          rest_ms: Math.ceil(rest),
        })),
      },
    };
  }

  return {
    state,
    read: () => ({
      status: options.serving().refusalReason === null ? 'ok' : 'unavailable',
      degraded: options.degraded(),
      startedAt,
      database: { kind: database.dialect, state: databaseState() },
      redis: rates.server && {
        state: rates.degraded.includes('redis') ? 'away' : 'works',
        ...rates.server,
      },
      journal: journalState(),
    }),
    channel: (channel) => health.read(channel, clock.monotonic()),
    async nodes() {
      const nodeRows = await allNodes(database);
      return nodeRows.map((node): NodeHealth => {
        const current = node.id === nodeId;
        return {
          ...node,
          current,
          live: node.silentFor < nodeRules.goneAfter,
          // Of its own, this process knows more than its last sign.
          ...(current && { silentFor: 0 }),
          state: current ? state() : stateFrom(node.state),
        };
      });
    },
  };
}

/** Null: nothing is known, or a version wrote it that has another form. */
function stateFrom(text: string | null): NodeState | null {
  if (text === null) return null;
  try {
    return nodeState.parse(JSON.parse(text));
  } catch {
    return null;
  }
}

/** The system tells it in a file, and the process may have no descriptor left. */
function memoryUsage(): Pick<NodeJS.MemoryUsage, 'rss' | 'heapUsed'> {
  try {
    return process.memoryUsage();
  } catch {
    return { rss: 0, heapUsed: 0 };
  }
}
