import type { z } from 'zod';
import { hintOf } from '#administration/index.ts';
import type { CatalogueSnapshot, Channel, StoredChannel } from '#catalogue/index.ts';
import { kinds } from '#config/index.ts';
import type { ChannelTraffic } from '#usage/index.ts';
import type { contract } from '../contract/index.ts';
import {
  channelStateOf,
  type ChannelHealthReading,
  type HealthSource,
  shareOf,
} from '../health/source.ts';
import { verdictOf } from '../health/verdict.ts';
import { managementOf, type PlaceInFile } from '../writes.ts';

type ListedChannel = z.input<typeof contract.listChannels.response>['data'][number];

export interface ListOptions {
  readonly snapshot: CatalogueSnapshot;
  readonly health: Pick<HealthSource, 'channel'>;
  /** By the name of the channel. */
  readonly traffic: ReadonlyMap<string, ChannelTraffic>;
  /** Whether whoever asked may read what upstreams said. */
  readonly withWords: boolean;
  readonly placeInFile: PlaceInFile;
}

const noCredentials = { ready: 0, cooling: 0, disabled: 0 };

/** Of every channel what its attempts became, and how this process uses it. Without addresses and secrets. */
export function describeChannels(
  channels: readonly StoredChannel[],
  { snapshot, health, traffic: trafficByName, withWords, placeInFile }: ListOptions,
): ListedChannel[] {
  const usedById = new Map(snapshot.channels.map((channel) => [channel.id, channel]));
  const aloneById = modelsOfOneChannel(snapshot);
  return channels.map((channel) => {
    const { id, name, enabled } = channel;
    const used = enabled ? usedById.get(id) : undefined;
    const reading = used && health.channel(used);
    const traffic = trafficByName.get(name);
    const alone = aloneById.get(id) ?? [];
    return {
      id,
      name,
      provider: channel.provider,
      protocols: [...channel.protocols],
      groups: [...channel.groups],
      models: channel.models.map((model) => model.name),
      priority: channel.priority,
      weight: channel.weight,
      enabled,
      ...managementOf(kinds.channel, channel, placeInFile),
      alone: { count: alone.length, models: alone.slice(0, mostNames) },
      api_keys: channel.apiKeys.map((key) => ({
        hint: hintOf(key),
        state: stateOfKey(key, used, reading),
      })),
      state: reading === undefined ? null : channelStateOf(reading),
      rest_ms: Math.ceil(reading?.rest ?? 0),
      credentials: reading?.credentials ?? noCredentials,
      verdict: verdictOf(traffic),
      recent: traffic === undefined ? null : recentOf(traffic, withWords),
    };
  });
}

/** A channel may serve a pattern of thousands. */
const mostNames = 20;

/** By the id of a channel: the models that no other one serves to a group. By name. */
function modelsOfOneChannel({ routes }: CatalogueSnapshot): ReadonlyMap<string, string[]> {
  const namesById = new Map<string, Set<string>>();
  for (const byModel of routes.values()) {
    for (const [model, [route, ...others]] of byModel) {
      if (route === undefined || others.length > 0) continue;
      const { id } = route.channel;
      namesById.set(id, (namesById.get(id) ?? new Set()).add(model));
    }
  }
  return new Map([...namesById].map(([id, names]) => [id, [...names].toSorted()]));
}

function stateOfKey(
  key: string,
  used: Channel | undefined,
  reading: ChannelHealthReading | undefined,
): ListedChannel['api_keys'][number]['state'] {
  return reading?.states[used?.credentials.indexOf(key) ?? -1] ?? null;
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
