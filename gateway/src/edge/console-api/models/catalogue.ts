import type { FastifyInstance } from 'fastify';
import type { z } from 'zod';
import {
  type Administration,
  changeEntry,
  changeModel,
  createEntry,
  groupStore,
  modelStore,
  putAlias,
  removeAlias,
} from '#administration/index.ts';
import {
  bundledModels,
  type CatalogueSnapshot,
  listAliases,
  listGroups,
  listModels,
  servedNames,
  type StoredAlias,
  type StoredGroup,
  type StoredModel,
} from '#catalogue/index.ts';
import { kinds, parseEntry, priceParts } from '#config/index.ts';
import type { OpenDatabase } from '#database/index.ts';
import { countGroupKeys } from '#identity/index.ts';
import { contract } from '../contract/index.ts';
import type { EntryWriter } from '../entries.ts';
import { ApiError } from '../errors.ts';
import type { Reads } from '../from-database.ts';
import { serveRoute, type ServeOptions } from '../serve-route.ts';
import { callOf, type PlaceInFile, revisionOf, showEntry } from '../writes.ts';

export interface CatalogueRoutesOptions extends ServeOptions {
  readonly database: OpenDatabase;
  readonly reads: Reads;
  readonly administration: Administration;
  readonly placeInFile: PlaceInFile;
  readonly writerOf: EntryWriter;
  /** The catalogue at this moment. */
  readonly snapshot: () => CatalogueSnapshot;
  /** Unix milliseconds. */
  readonly now: () => number;
}

type Db = OpenDatabase['kysely'];

const modelForm: z.input<typeof contract.readModelForm.response> = {
  price: priceParts.map(({ name, rows, types, columns, names }) => ({
    name,
    rows,
    types: [...types],
    columns: [...columns],
    names: names && [...names],
  })),
};

/** What the file or the console says of a model; of a bundled one that nobody declared, what an empty entry would say. */
export async function declaredModel(db: Db, id: string): Promise<StoredModel | null> {
  const declared = (await listModels(db)).find((model) => model.id === id);
  if (declared !== undefined) return declared;
  const bundled = bundledModels.find((model) => model.id === id);
  if (bundled === undefined) return null;
  const { type } = bundled;
  return {
    ...parseEntry(kinds.model, { id, type }),
    owner: 'system',
    revision: 0,
    createdAt: bundled.createdAt,
    updatedAt: bundled.createdAt,
  };
}

/** Changes of models, aliases and groups. */
export function catalogueRoutes(scope: FastifyInstance, options: CatalogueRoutesOptions): void {
  const { writerOf, reads, placeInFile, snapshot, now } = options;
  const show = showEntry(placeInFile);

  serveRoute(scope, contract.readModelForm, options, async () => ({ body: modelForm }));

  const showModel = (model: StoredModel) => show(kinds.model, model);
  const writeModel = writerOf<StoredModel>(kinds.model, showModel);
  serveRoute(scope, contract.createModel, options, async (call) => {
    const { request, body, caller } = call;
    const repeatable = callOf(request, caller);
    const model = await writeModel(call, body.id, (...by) =>
      createEntry(...by, modelStore, body, repeatable),
    );
    return { body: showModel(model), revision: model.revision };
  });
  serveRoute(scope, contract.changeModel, options, async (call) => {
    const { id } = call.parameters;
    const change = { id, revision: revisionOf(call.request), members: call.body };
    const model = await writeModel(call, id, (...by) => changeModel(...by, change));
    return { body: showModel(model), revision: model.revision };
  });

  const showGroup = (group: StoredGroup) => show(kinds.group, group);
  const writeGroup = writerOf<StoredGroup>(kinds.group, showGroup);
  serveRoute(scope, contract.listGroups, options, () =>
    reads(async (db) => {
      const uses = await countGroupKeys(db, now());
      const data = (await listGroups(db)).map((group) => ({
        ...showGroup(group),
        ...(uses.get(group.name) ?? { keys: 0, people: 0 }),
        models: servedNames(snapshot(), group.name).length,
      }));
      return { body: { data } };
    }),
  );
  serveRoute(scope, contract.createGroup, options, async (call) => {
    const { request, body, caller } = call;
    const repeatable = callOf(request, caller);
    const group = await writeGroup(call, body.name, (...by) =>
      createEntry(...by, groupStore, body, repeatable),
    );
    return { body: showGroup(group), revision: group.revision };
  });
  serveRoute(scope, contract.changeGroup, options, async (call) => {
    const { name } = call.parameters;
    const change = { id: name, revision: revisionOf(call.request), members: call.body };
    const group = await writeGroup(call, name, (...by) => changeEntry(...by, groupStore, change));
    return { body: showGroup(group), revision: group.revision };
  });

  const showAlias = (alias: StoredAlias) => show(kinds.alias, alias);
  const writeAlias = writerOf<StoredAlias>(kinds.alias, showAlias);
  serveRoute(scope, contract.listAliases, options, () =>
    reads(async (db) => ({
      body: { data: (await listAliases(db)).filter(({ enabled }) => enabled).map(showAlias) },
    })),
  );
  serveRoute(scope, contract.readAlias, options, ({ parameters: { name } }) =>
    reads(async (db) => {
      const alias = (await listAliases(db)).find((one) => one.name === name && one.enabled);
      if (alias === undefined) throw new ApiError('not_found', 'there is no such alias');
      return { body: showAlias(alias), revision: alias.revision };
    }),
  );
  serveRoute(scope, contract.putAlias, options, async (call) => {
    const { name } = call.parameters;
    const isNew = call.request.headers['if-none-match'] === '*';
    const revision = isNew ? null : revisionOf(call.request);
    const change = { name, revision, model: call.body.model };
    const alias = await writeAlias(call, name, (...by) => putAlias(...by, change));
    return { body: showAlias(alias), revision: alias.revision };
  });
  serveRoute(scope, contract.removeAlias, options, async (call) => {
    const { name } = call.parameters;
    const change = { name, revision: revisionOf(call.request) };
    await writeAlias(call, name, (...by) => removeAlias(...by, change));
    return { body: {} };
  });
}
