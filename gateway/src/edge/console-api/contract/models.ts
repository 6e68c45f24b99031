import { z } from 'zod';
import { kinds, modelTypes, priceParts, priceUnits } from '#config/index.ts';
import { givenAnytime, shownMembers } from './members.ts';
import { defineRoute } from './route.ts';
import { management, money, nothing, searchText, text, time } from './values.ts';

const prices = z.array(
  z.object({
    /** As in the file, such as `input` or `image_tiers.2K`. */
    part: z.string(),
    /** Decimal text: USD per unit, or a factor. */
    price: z.string(),
    unit: z.enum(priceUnits),
  }),
);

const model = z.object({
  /** The name that clients write. */
  id: z.string(),
  /** Other names that lead to it. */
  aliases: z.array(z.string()),
  type: z.enum(modelTypes),
  /** Requests for a disabled one are refused. */
  enabled: z.boolean(),
  display_name: z.string(),
  /** Who declares it: `file`, `console`, or `bundled` with this release. */
  origin: z.enum(['file', 'console', 'bundled']),
  /** What its channels speak; requests in another protocol are converted. */
  protocols: z.array(z.string()),
  /** Those of the person in which it is served; empty: no channel serves it. */
  groups: z.array(z.string()),
  context_window: z.int().nullable(),
  max_output_tokens: z.int().nullable(),
  capabilities: z.array(z.string()),
  /** Whether it has every price that its type needs; without it requests are refused. */
  priced: z.boolean(),
  /** In the unit in which each is published, before a group's factor. */
  prices,
  /** Requests of everybody in the last 24 hours; null: there were none. */
  recent: z
    .object({
      /** How many there were; null for people who see only their own requests. */
      requests: z.int().nullable(),
      /** The share that succeeded, from 0 to 1. */
      success: z.number(),
      /** The same for each hour since the one 24 hours ago, the present one last; null: nothing was asked. */
      hours: z.array(z.number().nullable()),
      /** Medians of the latest requests that succeeded; null: none was streamed. */
      first_token_ms: z.number().nullable(),
      tokens_per_second: z.number().nullable(),
      duration_ms: z.number().nullable(),
    })
    .nullable(),
});

/** An entry of the catalogue as the file or the console declares it; a bundled one that nobody declared says nothing. */
const settings = z.object({ ...shownMembers(kinds.model), ...management });

const detail = model.extend({
  /** What is declared of it; null for people who may not see the settings of models. */
  settings: settings.nullable(),
  /** The price in force, with its parts as in the file; null: there is none. */
  price: z.record(z.string(), z.unknown()).nullable(),
  /** As on receipts; null without a price. */
  price_version: z.string().nullable(),
  /** Every price it had, the newest first. */
  history: z.array(z.object({ version: z.string(), since: time, prices })),
  /** By what factor each group changes its prices. */
  factors: z.array(z.object({ group: z.string(), price_multiplier: z.string() })),
  /** Null for people who may not see channels. */
  channels: z
    .array(
      z.object({
        name: z.string(),
        provider: z.string(),
        protocols: z.array(z.string()),
        upstream_model: z.string(),
        groups: z.array(z.string()),
        priority: z.int(),
      }),
    )
    .nullable(),
});

export type ModelView = z.output<typeof model>;

const settingsExample: z.input<typeof settings> = {
  id: 'demo-chat',
  type: 'chat',
  display_name: 'Demo chat',
  owned_by: null,
  context_window: null,
  max_output_tokens: null,
  capabilities: [],
  echo_reasoning: null,
  allow: [],
  enabled: true,
  price: { input: '0.2', output: '0.8' },
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 31,
  created: '2026-11-25T10:00:00.000Z',
};

const example: z.input<typeof model> = {
  id: 'demo-chat',
  aliases: [],
  type: 'chat',
  enabled: true,
  display_name: 'Demo chat',
  origin: 'bundled',
  protocols: ['chat', 'messages'],
  groups: ['default'],
  context_window: 128_000,
  max_output_tokens: 16_384,
  capabilities: ['tools'],
  priced: true,
  prices: [
    { part: 'input', price: '0.2', unit: 'million_tokens' },
    { part: 'output', price: '0.8', unit: 'million_tokens' },
  ],
  recent: {
    requests: 1_204,
    success: 0.998,
    hours: [...Array.from({ length: 24 }, () => null), 0.998],
    first_token_ms: 420,
    tokens_per_second: 96.4,
    duration_ms: 1_900,
  },
};

export const listModels = defineRoute({
  method: 'GET',
  path: '/models',
  summary: 'The models that an enabled channel serves for the person, or all of the catalogue',
  permission: 'own',
  /** What the id, an alias or the name for people contains, in capitals or not. */
  query: z.strictObject({
    q: searchText,
    /** `true`: the whole catalogue, for people who may see the models of all groups. */
    all: z.literal('true', 'expected true').optional(),
  }),
  response: z.object({ data: z.array(model) }),
  example: { data: [example] },
});

export const readModel = defineRoute({
  method: 'GET',
  path: '/models/:id',
  summary: 'One model with its prices over time, and its settings with their revision in `etag`',
  permission: 'own',
  parameters: z.strictObject({ id: text(400) }),
  response: detail,
  example: {
    ...example,
    settings: settingsExample,
    price: { input: '0.2', output: '0.8' },
    price_version: '3f0a1b2c4d5e6f70',
    history: [
      { version: '3f0a1b2c4d5e6f70', since: '2026-11-25T10:00:00.000Z', prices: example.prices },
    ],
    factors: [{ group: 'default', price_multiplier: '1' }],
    channels: [
      {
        name: 'demo',
        provider: 'simulator',
        protocols: ['chat', 'messages'],
        upstream_model: 'demo-chat',
        groups: ['default'],
        priority: 0,
      },
    ],
  },
});

export const readModelForm = defineRoute({
  method: 'GET',
  path: '/forms/model',
  summary: 'What a form for models needs: the parts of a price as the file describes them',
  permission: 'models.read',
  response: z.object({
    /** In the order of the file. */
    price: z.array(
      z.object({
        name: z.string(),
        /** Which models can be charged by it. */
        types: z.array(z.enum(modelTypes)),
        /** `value`: the value itself; `list`: rows in ascending order; `names`: a row for each name that is chosen. */
        rows: z.enum(['value', 'list', 'names']),
        columns: z.array(
          z.object({
            /** Empty: the part has no other value. */
            name: z.string(),
            /** A unit of `prices`; `count` and `text` tell rows of a list apart. */
            form: z.enum([...priceUnits, 'count', 'text']),
            required: z.boolean(),
            /** Of tokens that are not text. */
            rare: z.boolean(),
          }),
        ),
        /** What a name is one of; null: it is free, or there are none. */
        names: z.array(z.string()).nullable(),
      }),
    ),
  }),
  example: {
    price: [
      {
        name: 'video_second',
        types: ['video'],
        rows: 'names',
        columns: [{ name: '', form: 'second', required: true, rare: false }],
        names: null,
      },
    ],
  },
});

/** The parts of a price as in the file. */
const givenPrice = z.partialRecord(
  z.enum(priceParts.map(({ name }) => name)),
  z.union([z.string(), z.number(), z.array(z.unknown()), z.record(z.string(), z.unknown())]),
  'expected the parts of a price',
);

/** Only kinds of values: what they may be are the rules of the file. */
const given = { ...givenAnytime(kinds.model), price: givenPrice.nullable().optional() };

export const createModel = defineRoute({
  method: 'POST',
  path: '/models',
  status: 201,
  summary: 'Add a model to the catalogue, or override a bundled one of the same id',
  permission: 'models.write',
  body: z.strictObject({ id: text(200, 'a model id'), ...given }),
  response: settings,
  example: settingsExample,
});

export const changeModel = defineRoute({
  method: 'PATCH',
  path: '/models/:id',
  summary:
    'Change settings of a model; `null` stands for none, or for what is bundled. Needs `if-match` with the revision, which is 0 for a bundled model',
  permission: 'models.write',
  parameters: z.strictObject({ id: text(400) }),
  body: z.strictObject(given),
  response: settings,
  example: { ...settingsExample, price: { input: '0.25', output: '1' } },
});

const alias = z.object({
  /** What clients write; a `*` stands for any text. */
  name: z.string(),
  /** The id of the model that it leads to. */
  model: z.string(),
  ...management,
});

const aliasExample: z.input<typeof alias> = {
  name: 'fast',
  model: 'demo-chat',
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 32,
  created: '2026-11-25T10:00:00.000Z',
};

const aliasParameters = z.strictObject({ name: text(400) });

export const listAliases = defineRoute({
  method: 'GET',
  path: '/aliases',
  summary: 'Other names for models that the file or the console declares',
  permission: 'models.read',
  response: z.object({ data: z.array(alias) }),
  example: { data: [aliasExample] },
});

export const readAlias = defineRoute({
  method: 'GET',
  path: '/aliases/:name',
  summary: 'One alias, with its revision in `etag`',
  permission: 'models.read',
  parameters: aliasParameters,
  response: alias,
  example: aliasExample,
});

export const putAlias = defineRoute({
  method: 'PUT',
  path: '/aliases/:name',
  summary:
    'Make an alias, with `if-none-match: *`, or lead it to another model, with its revision in `if-match`',
  permission: 'models.write',
  parameters: aliasParameters,
  body: z.strictObject({ model: text(200, 'a model id') }),
  response: alias,
  example: aliasExample,
});

export const removeAlias = defineRoute({
  method: 'DELETE',
  path: '/aliases/:name',
  summary: 'Take an alias away. Needs `if-match` with the revision',
  permission: 'models.write',
  parameters: aliasParameters,
  response: nothing,
  example: {},
});

const group = z.object({ ...shownMembers(kinds.group), ...management });

/** What would stop if it were disabled. */
const usedGroup = group.extend({
  /** Keys that can be used, and how many people they are of. */
  keys: z.int(),
  people: z.int(),
  /** Names that clients can write; 0 for a disabled one. */
  models: z.int(),
});

const groupExample: z.input<typeof group> = {
  name: 'research',
  price_multiplier: '1.2',
  enabled: true,
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 33,
  created: '2026-11-25T10:00:00.000Z',
};

export const listGroups = defineRoute({
  method: 'GET',
  path: '/groups',
  summary: 'Groups, with the factor on every price and what uses them',
  permission: 'models.read',
  response: z.object({ data: z.array(usedGroup) }),
  example: { data: [{ ...groupExample, keys: 12, people: 3, models: 34 }] },
});

export const createGroup = defineRoute({
  method: 'POST',
  path: '/groups',
  status: 201,
  summary: 'Add a group',
  permission: 'models.write',
  body: z.strictObject({ name: text(200, 'a group name'), ...givenAnytime(kinds.group) }),
  response: group,
  example: groupExample,
});

export const changeGroup = defineRoute({
  method: 'PATCH',
  path: '/groups/:name',
  summary:
    'Change the factor of a group, or disable it, from the next request on. Needs `if-match` with the revision',
  permission: 'models.write',
  parameters: z.strictObject({ name: text(400) }),
  body: z.strictObject(givenAnytime(kinds.group)),
  response: group,
  example: { ...groupExample, price_multiplier: '1.5' },
});

const days = z
  .int('expected a whole number of days')
  .min(1, 'expected 1 to 90 days')
  .max(90, 'expected 1 to 90 days')
  .default(30);

/** What a change of prices would have made of requests. */
const preview = z.object({
  /** From when rows were counted: later than asked for where there are more than can be. */
  from: time,
  to: time,
  requests: z.int(),
  /** Those counted with what they cost, because their receipts do not say what the price would make of them. */
  inexact: z.int(),
  cost: money,
  would_be: money,
  /** Who would pay less or more, the largest difference first. */
  payers: z.array(
    z.object({
      kind: z.enum(['user', 'team']),
      name: z.string(),
      requests: z.int(),
      cost: money,
      would_be: money,
    }),
  ),
  /** How many payers the list leaves out. */
  more_payers: z.int(),
});

const previewExample: z.input<typeof preview> = {
  from: '2026-10-26T10:00:00.000Z',
  to: '2026-11-25T10:00:00.000Z',
  requests: 12_310,
  inexact: 61,
  cost: '1702',
  would_be: '1466',
  payers: [
    { kind: 'team', name: 'platform', requests: 8_204, cost: '1082', would_be: '932' },
    { kind: 'user', name: 'ada@example.com', requests: 4_106, cost: '620', would_be: '534' },
  ],
  more_payers: 0,
};

export const previewPrice = defineRoute({
  method: 'POST',
  path: '/prices/preview',
  summary:
    'What another price of a model would have made of the requests of the last days. Nothing is changed',
  permission: 'models.read',
  body: z.strictObject({
    model: text(200, 'a model id'),
    price: givenPrice,
    days,
  }),
  response: preview,
  example: previewExample,
});

export const previewGroup = defineRoute({
  method: 'POST',
  path: '/groups/:name/preview',
  summary:
    'What another factor of a group would have made of its requests of the last days. Nothing is changed',
  permission: 'models.read',
  parameters: z.strictObject({ name: text(400) }),
  body: z.strictObject({ price_multiplier: text(40, 'a factor'), days }),
  response: preview,
  example: previewExample,
});
