import type { Channel } from '#catalogue/index.ts';
import type { channelStates } from '../contract/channels.ts';
import type { NodeState } from '../contract/health.ts';

/** How the gateway is, as this process sees it. */
export interface GatewayHealth {
  /** `unavailable`: nothing that costs something can be admitted. */
  readonly status: 'ok' | 'unavailable';
  /** Degraded components, in the words of `/ready`. */
  readonly degraded: readonly string[];
  /** Unix milliseconds. */
  readonly startedAt: number;
  readonly database: {
    readonly kind: 'sqlite' | 'postgres';
    readonly state: 'works' | 'read-only' | 'away';
  };
  /** Null: there is none. */
  readonly redis: {
    readonly state: 'works' | 'away';
    readonly eviction: string;
    readonly persistence: string;
  } | null;
  readonly journal: {
    readonly usable: boolean;
    /** Records on disk that are not in the database yet. */
    readonly depth: number;
  };
}

export interface NodeHealth {
  readonly id: string;
  /** Whether it is the one that responds. */
  readonly current: boolean;
  readonly live: boolean;
  /** Unix milliseconds. */
  readonly startedAt: number;
  /** Milliseconds since its last sign. */
  readonly silentFor: number;
  readonly journalDepth: number;
  /** At its last sign; null: not known. */
  readonly state: NodeState | null;
}

type CredentialState = 'ready' | 'cooling' | 'disabled';

export interface ChannelHealthReading {
  readonly breaker: 'closed' | 'open' | 'half-open';
  readonly credentials: Readonly<Record<CredentialState, number>>;
  /** Of each, in the channel's order. */
  readonly states: readonly CredentialState[];
  /** Milliseconds until a request may try it again; 0: now. */
  readonly rest: number;
}

/** How a process uses a channel, in one word. */
export function channelStateOf({
  breaker,
  credentials,
}: Pick<ChannelHealthReading, 'breaker' | 'credentials'>): (typeof channelStates)[number] {
  const { ready, cooling, disabled } = credentials;
  if (ready === 0 && cooling === 0 && disabled > 0) return 'refused';
  if (breaker !== 'closed') return breaker === 'open' ? 'rests' : 'tries';
  return ready === 0 && cooling > 0 ? 'waits' : 'works';
}

/** Where the console learns how the gateway is. */
export interface HealthSource {
  readonly read: () => GatewayHealth;
  readonly channel: (channel: Channel) => ChannelHealthReading;
  /** @throws the error of the database */
  readonly nodes: () => Promise<readonly NodeHealth[]>;
}

/** The share that succeeded; null: nothing was asked. Rounded, so that it does not reveal how many others asked. */
export const shareOf = (requests: number, failedRequests: number): number | null =>
  requests === 0 ? null : Math.round((1 - failedRequests / requests) * 1_000) / 1_000;
