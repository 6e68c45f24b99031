import { z } from 'zod';
import { defineRoute } from './route.ts';
import { nothing, searchText, text, time } from './values.ts';

const prices = z.array(
  z.object({
    /** As in the file, such as `input` or `image_tiers.2K`. */
    part: z.string(),
    /** Decimal text: USD per unit, or a factor. */
    price: z.string(),
    unit: z.enum(['million_tokens', 'picture', 'second', 'use', 'factor']),
  }),
);

const model = z.object({
  /** The name that clients write. */
  id: z.string(),
  /** Other names that lead to it. */
  aliases: z.array(z.string()),
  type: z.enum(['chat', 'image', 'video', 'embedding']),
  display_name: z.string(),
  /** Who declares it: `file`, `console`, or `bundled` with this release. */
  origin: z.enum(['file', 'console', 'bundled']),
  /** What its channels speak; requests in another protocol are converted. */
  protocols: z.array(z.string()),
  /** Those of the person in which it is served. */
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
      /** The same for each of the last 24 hours, the present one last; null: nothing was asked. */
      hours: z.array(z.number().nullable()),
      /** Medians of the latest requests that succeeded; null: none was streamed. */
      first_token_ms: z.number().nullable(),
      tokens_per_second: z.number().nullable(),
      duration_ms: z.number().nullable(),
    })
    .nullable(),
});

const detail = model.extend({
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

const example: z.input<typeof model> = {
  id: 'demo-chat',
  aliases: [],
  type: 'chat',
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
    hours: [...Array.from({ length: 23 }, () => null), 0.998],
    first_token_ms: 420,
    tokens_per_second: 96.4,
    duration_ms: 1_900,
  },
};

export const listModels = defineRoute({
  method: 'GET',
  path: '/models',
  summary: 'The models that an enabled channel serves for the person',
  permission: 'own',
  parameters: nothing,
  /** What the id, an alias or the name for people contains, in capitals or not. */
  query: z.strictObject({ q: searchText }),
  body: nothing,
  response: z.object({ data: z.array(model) }),
  example: { data: [example] },
});

export const readModel = defineRoute({
  method: 'GET',
  path: '/models/:id',
  summary: 'One model with its prices over time',
  permission: 'own',
  parameters: z.strictObject({ id: text(400) }),
  query: nothing,
  body: nothing,
  response: detail,
  example: {
    ...example,
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
