import type { FastifyInstance } from 'fastify';
import type { ProtocolName } from '#canonical/index.ts';
import {
  type CatalogueSnapshot,
  type Channel,
  findUsableModel,
  listChannels,
  type Route,
} from '#catalogue/index.ts';
import type { Secrets } from '#database/index.ts';
import { GatewayError } from '#errors/index.ts';
import { findKey, type StoredKey } from '#identity/index.ts';
import type { z } from 'zod';
import { contract } from '../contract/index.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';

type Explained = z.input<typeof contract.explainRoute.response>;

/** Who would be asked for a request at this moment, by the functions that route requests. */
export type RouteExplainer = (query: {
  readonly group: string;
  readonly clientModel: string;
  readonly servedNames: readonly string[];
  readonly protocol: ProtocolName;
  readonly userAgent: string | null;
}) => {
  readonly asked: readonly {
    readonly route: Route;
    readonly protocol: string;
    readonly isNative: boolean;
    readonly refusal: Explained['asked'][number]['passed_over'];
    readonly rest: number;
    readonly share: number;
  }[];
  readonly others: readonly {
    readonly channel: Channel;
    readonly reason: Explained['others'][number]['reason'];
  }[];
  readonly lastResort: Channel | null;
};

export interface RoutingRoutesOptions extends ServeOptions {
  readonly reads: Reads;
  readonly secrets: Secrets;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  readonly explain: RouteExplainer;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/** Why a request goes where it goes. */
export function routingRoutes(scope: FastifyInstance, options: RoutingRoutesOptions): void {
  const { reads, secrets, snapshot, explain, now } = options;

  serveRoute(scope, contract.explainRoute, options, async ({ body }) => {
    const [key, channels] = await reads(async (db) => [
      body.key === undefined ? null : await findKey(db, body.key),
      await listChannels(db, secrets),
    ]);
    if (body.key !== undefined && key === null) throw invalid('key', 'there is no such key');
    const group = key?.group ?? body.group ?? 'default';
    const isOpen = snapshot().groups.has(group);
    if (!isOpen && key === null) throw invalid('group', 'there is no such group');
    const allowed = key === null || key.models.length === 0 ? null : new Set(key.models);
    const found = findUsableModel(snapshot(), body.model, allowed);
    const explained = explain({
      group,
      clientModel: body.model,
      servedNames: found.servedNames,
      protocol: body.protocol,
      userAgent: body.user_agent ?? null,
    });
    const used = new Set(snapshot().channels.map(({ id }) => id));
    const disabled = channels
      .filter(({ id, enabled }) => !enabled && !used.has(id))
      .map((channel) => ({ channel, reason: 'disabled' as const }));
    return {
      body: {
        group,
        model: found.id,
        refusal:
          keyRefusal(key, now()) ??
          refusalOf(isOpen ? found.refusal : 'group_disabled', body.model),
        asked: explained.asked.map(({ route, protocol, isNative, refusal, rest, share }) => ({
          id: route.channel.id,
          name: route.channel.name,
          upstream_model: route.upstreamModel,
          protocol,
          native: isNative,
          priority: route.channel.priority,
          weight: route.channel.weight,
          share,
          passed_over: refusal,
          rest_ms: Math.ceil(rest),
        })),
        last_resort: explained.lastResort?.name ?? null,
        others: [...explained.others, ...disabled]
          .map(({ channel, reason }) => ({
            id: channel.id,
            name: channel.name,
            reason,
            groups: [...channel.groups],
            protocols: [...channel.protocols],
            user_agents: [...channel.userAgents],
          }))
          .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
      },
    };
  });
}

function keyRefusal(key: StoredKey | null, now: number): Explained['refusal'] {
  if (key === null) return null;
  const isEnded = key.expiresAt !== null && key.expiresAt <= now;
  if (key.enabled && key.revokedAt === null && !isEnded) return null;
  return { code: 'invalid_key', message: 'the key is disabled, revoked or expired' };
}

function refusalOf(
  refusal: ReturnType<typeof findUsableModel>['refusal'] | 'group_disabled',
  model: string,
): Explained['refusal'] {
  if (refusal === null) return null;
  const { message } = new GatewayError(refusal, { values: { model, hint: '' } });
  return { code: refusal, message };
}

const invalid = (path: string, message: string) =>
  new ApiError('invalid', `${path}: ${message}`, { fields: [{ path, message }] });
