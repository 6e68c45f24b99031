import type { FastifyInstance } from 'fastify';
import type { CatalogueSnapshot } from '#catalogue/index.ts';
import type { z } from 'zod';
import { channelTraffic, type ChannelTraffic } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import {
  shareOf,
  type ChannelHealthReading,
  type HealthSource,
  type NodeHealth,
} from './source.ts';
import { verdictOf } from './verdict.ts';

export interface HealthRoutesOptions extends ServeOptions {
  readonly reads: Reads;
  readonly health: HealthSource;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  readonly version: string;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** The state of the gateway and of its channels. */
export function healthRoutes(scope: FastifyInstance, options: HealthRoutesOptions): void {
  const { reads, health, snapshot, version, now } = options;

  serveRoute(scope, contract.readHealth, options, async () => {
    const { startedAt, degraded, ...state } = health.read();
    const nodes = await nodesIfKnown();
    return {
      body: {
        ...state,
        version,
        started: new Date(startedAt).toISOString(),
        degraded: [...degraded],
        nodes:
          nodes?.map(({ startedAt: began, silentFor, journalDepth, ...node }) => ({
            ...node,
            started: new Date(began).toISOString(),
            silent_ms: silentFor,
            journal: journalDepth,
          })) ?? null,
      },
    };
  });

  serveRoute(scope, contract.listChannels, options, async ({ caller }) => {
    const trafficByName = await reads((db) => channelTraffic(db, now()));
    const withWords = caller.permissions.includes('errors.read');
    return {
      body: {
        data: snapshot()
          .channels.map((channel) => {
            const reading = health.channel(channel);
            const traffic = trafficByName.get(channel.name);
            return {
              id: channel.id,
              name: channel.name,
              provider: channel.provider,
              protocols: [...channel.protocols],
              groups: [...channel.groups],
              priority: channel.priority,
              state: stateOf(reading),
              credentials: reading.credentials,
              verdict: verdictOf(traffic),
              recent: traffic === undefined ? null : recentOf(traffic, withWords),
            };
          })
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      },
    };
  });

  /** An unreachable database is what the page is there to show. */
  async function nodesIfKnown(): Promise<readonly NodeHealth[] | null> {
    try {
      return await fromDatabase(health.nodes);
    } catch (error) {
      if (error instanceof ApiError && error.code === 'database_away') return null;
      throw error;
    }
  }
}

type ChannelState = z.input<typeof contract.listChannels.response>['data'][number]['state'];

function stateOf({ breaker, credentials }: ChannelHealthReading): ChannelState {
  const { ready, cooling, disabled } = credentials;
  if (ready === 0 && cooling === 0 && disabled > 0) return 'refused';
  if (breaker !== 'closed') return breaker === 'open' ? 'rests' : 'tries';
  return ready === 0 && cooling > 0 ? 'waits' : 'works';
}

function recentOf(traffic: ChannelTraffic, withWords: boolean) {
  const { attempts, failed, hours, firstToken, errors, answeredAt, failing, lastFailure } = traffic;
  return {
    attempts,
    failed,
    success: shareOf(attempts, failed) ?? 1,
    hours: hours.map((hour) => shareOf(hour.attempts, hour.failed)),
    first_token_ms: firstToken,
    errors: [...errors],
    answered_at: answeredAt === null ? null : new Date(answeredAt).toISOString(),
    failing:
      failing === null
        ? null
        : { since: new Date(failing.since).toISOString(), attempts: failing.attempts },
    last_failure:
      lastFailure === null
        ? null
        : {
            request: lastFailure.id,
            time: new Date(lastFailure.time).toISOString(),
            error: lastFailure.error,
            blame: lastFailure.blame,
            status: lastFailure.status,
            words: withWords ? lastFailure.text : null,
          },
  };
}
