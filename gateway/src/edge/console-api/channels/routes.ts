import type { FastifyInstance } from 'fastify';
import {
  type Administration,
  changeEntry,
  channelStore,
  createEntry,
  draftEntry,
  endPauses,
  hintOf,
} from '#administration/index.ts';
import {
  type CatalogueSnapshot,
  isOnlySimulated,
  listChannels,
  type StoredChannel,
} from '#catalogue/index.ts';
import { kinds } from '#config/index.ts';
import type { OpenDatabase, Secrets } from '#database/index.ts';
import { channelTraffic } from '#usage/index.ts';
import { contract } from '../contract/index.ts';
import type { ChannelTrialResult, UpstreamModels } from '../contract/channels.ts';
import { shownValues } from '../contract/members.ts';
import { ApiError } from '../errors.ts';
import { fromDatabase, type Reads } from '../from-database.ts';
import { type ApiCall, serveRoute, type ServeOptions } from '../serve-route.ts';
import { createCallRate } from '../call-rate.ts';
import { adviceFor } from './advice.ts';
import { compareModels } from './compare-models.ts';
import { channelForm } from './channel-form.ts';
import { describeChannels } from './describe-channels.ts';
import type { HealthSource } from '../health/source.ts';
import type { EntryWriter } from '../entries.ts';
import { callOf, managementOf, type PlaceInFile, revisionOf, throwRefusal } from '../writes.ts';

/** Sends a small request to a channel. @param model null: the first that is named exactly */
export type ChannelTrial = (
  channel: StoredChannel,
  model: string | null,
) => Promise<ChannelTrialResult>;

/** Asks the upstream of a channel for its list of models. */
export type ModelSearch = (channel: StoredChannel) => Promise<UpstreamModels>;

export interface ChannelRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly secrets: Secrets;
  readonly administration: Administration;
  readonly tryChannel: ChannelTrial;
  readonly findModels: ModelSearch;
  readonly health: Pick<HealthSource, 'channel'>;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  readonly placeInFile: PlaceInFile;
  readonly writerOf: EntryWriter;
  /** Unix milliseconds. */
  readonly now: () => number;
}

const { channel: kind } = kinds;

/** Channels with their settings, and changes of them. */
export function channelRoutes(scope: FastifyInstance, options: ChannelRoutesOptions): void {
  const {
    administration,
    writerOf,
    database,
    reads,
    secrets,
    tryChannel,
    findModels,
    health,
    snapshot,
    placeInFile,
    now,
  } = options;

  serveRoute(scope, contract.listChannels, options, async ({ caller }) => {
    const [traffic, channels] = await reads(async (db) => [
      await channelTraffic(db, now()),
      await listChannels(db, secrets),
    ]);
    const withWords = caller.permissions.includes('errors.read');
    const data = describeChannels(channels, {
      snapshot: snapshot(),
      health,
      traffic,
      withWords,
      placeInFile,
    });
    const simulated = isOnlySimulated(channels.filter(({ enabled }) => enabled));
    return { body: { simulated, data } };
  });

  serveRoute(scope, contract.readChannelForm, options, async () => ({
    body: channelForm(snapshot()),
  }));

  serveRoute(scope, contract.readChannel, options, async ({ parameters }) =>
    reads(async (db) => replyOf(await knownChannel(db, parameters.id))),
  );

  const write = writerOf<StoredChannel>(kind, (channel) => replyOf(channel).body);

  serveRoute(scope, contract.createChannel, options, async (call) => {
    const { request, body, caller } = call;
    const repeatable = callOf(request, caller);
    return replyOf(
      await write(call, body.name ?? '', (...by) =>
        createEntry(...by, channelStore, body, repeatable),
      ),
    );
  });

  serveRoute(scope, contract.changeChannel, options, async (call) => {
    const { request, parameters, body } = call;
    const revision = revisionOf(request);
    const { id, name } = await fromDatabase(() => knownChannel(database.kysely, parameters.id));
    const change = { id, revision, members: body };
    return replyOf(await write(call, name, (...by) => changeEntry(...by, channelStore, change)));
  });

  serveRoute(scope, contract.resetChannel, options, async (call) => {
    const { id } = call.parameters;
    return replyOf(await write(call, id, (...by) => endPauses(...by, id)));
  });

  const countCall = createCallRate('tests', now);

  /**
   * A channel that nobody keeps: one that exists, with changes, or a new one. It is put on record, and counts.
   * @throws ApiError `too_many`, `invalid`
   */
  async function draftOf(
    { caller }: Pick<ApiCall<typeof contract.testChannel>, 'caller'>,
    {
      id: reference,
      ...members
    }: { readonly id?: string | undefined } & Readonly<Record<string, unknown>>,
  ): Promise<StoredChannel> {
    const id = reference ?? null;
    countCall(caller.actor.id);
    const draft = {
      id,
      // A key can be tried before anything is known of the models.
      members: id === null ? { name: 'new', models: [], ...members } : members,
      action: 'test',
    } as const;
    const { entry, before } = await fromDatabase(() =>
      draftEntry(administration, caller.actor, channelStore, draft).catch((error: unknown) =>
        throwRefusal(kind, error),
      ),
    );
    return {
      ...entry,
      id: before?.id ?? 'trial',
      owner: 'console',
      resetAt: null,
      createdAt: 0,
      updatedAt: 0,
      revision: 0,
    };
  }

  serveRoute(scope, contract.testChannel, options, async (call) => {
    const { model = null, ...draft } = call.body;
    const result = await tryChannel(await draftOf(call, draft), model);
    return { body: { ...result, advice: adviceFor(result) } };
  });

  serveRoute(scope, contract.findChannelModels, options, async (call) => {
    const channel = await draftOf(call, call.body);
    const { names, ...found } = await findModels(channel);
    const compared = compareModels(names, channel, snapshot());
    return { body: { ...found, ...compared, advice: adviceFor(found) } };
  });

  /** @param id or the name, where no id is the same. @throws ApiError `not_found` */
  async function knownChannel(db: OpenDatabase['kysely'], id: string): Promise<StoredChannel> {
    const channels = await listChannels(db, secrets);
    const found =
      channels.find((channel) => channel.id === id) ?? channels.find(({ name }) => name === id);
    if (found === undefined) throw new ApiError('not_found', 'there is no such channel');
    return found;
  }

  /** Without any secret. */
  function replyOf(channel: StoredChannel) {
    const { models, timeouts, ...members } = shownValues(kind, channel);
    const headers = Object.entries(channel.headers).map(
      ([name, value]) => [name, { hint: hintOf(value) }] as const,
    );
    return {
      body: {
        id: channel.id,
        ...members,
        models: models as (string | { name: string; upstream: string })[],
        timeouts: timeouts as Record<string, string>,
        api_keys: channel.apiKeys.map((key, at) => ({ hint: hintOf(key), number: at + 1 })),
        headers: Object.fromEntries(headers),
        proxy: shownProxy(channel.proxy),
        ...managementOf(kind, channel, placeInFile),
      },
      revision: channel.revision,
    };
  }
}

function shownProxy(proxy: string | null): string | null {
  if (proxy === null || proxy === 'direct') return proxy;
  const url = new URL(proxy);
  return `${url.protocol}//${url.host}`;
}
