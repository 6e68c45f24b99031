import type { Caller } from '#identity/index.ts';
import { type CatalogueSnapshot, type Model, servedNames } from '#catalogue/index.ts';
import { GatewayError } from '#errors/index.ts';

/** A listed model with its wire forms, encoded once per catalogue. */
export interface ListedModel {
  /** As clients write it; aliases are listed under their own names. */
  readonly name: string;
  readonly model: Model;
  /** JSON text of the entry that clients of OpenAI's and of Anthropic's API can both read. */
  readonly openai: string;
  /** JSON text of the generate-content entry; null for a model that the protocol cannot call. */
  readonly gemini: string | null;
}

export interface ModelLists {
  /**
   * The models that the caller may use and its group serves, by name in code unit order.
   * @throws GatewayError for a disabled group
   */
  of(caller: Caller): readonly ListedModel[];
  /** One of them; null: it has none of this name. @throws as `of` */
  find(caller: Caller, name: string): ListedModel | null;
}

interface GroupList {
  readonly entries: readonly ListedModel[];
  readonly byName: ReadonlyMap<string, ListedModel>;
}

/** Model lists from the current catalogue: built on first use, then only filtered by the key's allowlist. */
export function createModelLists(snapshot: () => CatalogueSnapshot): ModelLists {
  const cache = new WeakMap<CatalogueSnapshot, Map<string, GroupList>>();

  const groupList = (group: string): GroupList => {
    const current = snapshot();
    if (!current.groups.has(group)) throw new GatewayError('group_disabled');
    let groups = cache.get(current);
    if (groups === undefined) {
      groups = new Map();
      cache.set(current, groups);
    }
    let list = groups.get(group);
    if (list === undefined) {
      list = buildGroupList(current, group);
      groups.set(group, list);
    }
    return list;
  };

  return {
    of(caller) {
      const { entries } = groupList(caller.group);
      return caller.models === null ? entries : entries.filter((entry) => mayUse(caller, entry));
    },
    find(caller, name) {
      const entry = groupList(caller.group).byName.get(name);
      return entry !== undefined && mayUse(caller, entry) ? entry : null;
    },
  };
}

/** A key that may use a model may use all its other names; an allowed alias opens only itself. */
function mayUse({ models }: Caller, { name, model }: ListedModel): boolean {
  return models === null || models.has(name) || models.has(model.id);
}

function buildGroupList(snapshot: CatalogueSnapshot, group: string): GroupList {
  const entries = servedNames(snapshot, group).map(({ name, model }): ListedModel => ({
    name,
    model,
    openai: encodeOpenaiModel(name, model),
    gemini: encodeGeminiModel(name, model),
  }));
  return { entries, byName: new Map(entries.map((entry) => [entry.name, entry])) };
}

/** A model list entry that clients of OpenAI's and of Anthropic's API both parse. JSON text. */
function encodeOpenaiModel(name: string, model: Model): string {
  const created = Math.floor(model.createdAt / 1000);
  return JSON.stringify({
    id: name,
    object: 'model',
    type: 'model',
    created,
    created_at: new Date(created * 1000).toISOString().replace('.000Z', 'Z'),
    owned_by: model.ownedBy,
    display_name: model.displayName,
    model_type: model.type,
    max_input_tokens: model.contextWindow,
    max_tokens: model.maxOutputTokens,
    // A model is listed as long as this gateway offers it; when its vendor ends it is for the operator to follow.
    lifecycle: 'active',
    deprecated_at: null,
    retires_at: null,
    // Not `capabilities`, which is an object in newer lists of the Messages API.
    model_capabilities: [...model.capabilities].toSorted(),
  });
}

/** A generate-content model list entry as JSON text; null for models that no method of the protocol can call. */
function encodeGeminiModel(name: string, model: Model): string | null {
  if (model.type === 'video' || model.type === 'embedding') return null;
  return JSON.stringify({
    name: `models/${name}`,
    baseModelId: name,
    version: '001',
    displayName: model.displayName,
    description: model.displayName,
    inputTokenLimit: model.contextWindow ?? undefined,
    outputTokenLimit: model.maxOutputTokens ?? undefined,
    supportedGenerationMethods: ['generateContent', 'streamGenerateContent', 'countTokens'],
  });
}
