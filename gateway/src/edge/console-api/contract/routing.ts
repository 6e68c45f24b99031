import { z } from 'zod';
import { protocolNames } from '#canonical/index.ts';
import { defineRoute } from './route.ts';
import { text } from './values.ts';

export const explainRoute = defineRoute({
  method: 'POST',
  path: '/routing/explain',
  summary:
    'Which channels would be asked for a request, in which order, and why each other one would not. Nothing is sent',
  permission: 'channels.read',
  body: z.strictObject({
    /** The name or id of a key: its group and models count. */
    key: text(200, 'the name of a key').optional(),
    /** Without a key; absent: `default`. */
    group: text(200, 'a group').optional(),
    model: text(200, 'a model name'),
    protocol: z.enum(protocolNames, 'expected a protocol such as chat').default('chat'),
    /** Absent: any client. */
    user_agent: text(400, 'the User-Agent of a client').optional(),
  }),
  response: z.object({
    group: z.string(),
    /** The id in the catalogue; null: nothing has this name. */
    model: z.string().nullable(),
    /** Why no channel would be asked, whatever they do; null: nothing is against it. */
    refusal: z.object({ code: z.string(), message: z.string() }).nullable(),
    /** In the order in which they are asked; equal ones by weight. */
    asked: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        upstream_model: z.string(),
        /** The upstream's. */
        protocol: z.string(),
        /** Whether the request goes there unconverted. */
        native: z.boolean(),
        priority: z.int(),
        weight: z.int(),
        /** The part of such requests that it gets first at this moment, of 1. */
        share: z.number(),
        /** Why this process would pass it over at this moment; null: it would not. */
        passed_over: z
          .enum([
            'ejected',
            'credential-refused',
            'overloaded',
            'rate-limited',
            'model-missing',
            'retry-budget',
          ])
          .nullable(),
        /** Milliseconds until it may be tried again. */
        rest_ms: z.number(),
      }),
    ),
    /** The channel that is asked although all are passed over: it has failed least. */
    last_resort: z.string().nullable(),
    others: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        /**
         * `disabled`; `model`: it does not serve it; `group`: it serves it to other groups; `protocol`: it speaks no protocol that the
         * client's converts to; `client`: it is for other clients.
         */
        reason: z.enum(['disabled', 'model', 'group', 'protocol', 'client']),
        groups: z.array(z.string()),
        protocols: z.array(z.string()),
        user_agents: z.array(z.string()),
      }),
    ),
  }),
  example: {
    group: 'default',
    model: 'gpt-5',
    refusal: null,
    asked: [
      {
        id: 'ch_3f',
        name: 'azure-eu',
        upstream_model: 'gpt-5-eu',
        protocol: 'chat',
        native: true,
        priority: 1,
        weight: 1,
        share: 0,
        passed_over: 'ejected',
        rest_ms: 41_000,
      },
      {
        id: 'ch_4a',
        name: 'openai-main',
        upstream_model: 'gpt-5',
        protocol: 'chat',
        native: true,
        priority: 0,
        weight: 1,
        share: 1,
        passed_over: null,
        rest_ms: 0,
      },
    ],
    last_resort: null,
    others: [
      {
        id: 'ch_5b',
        name: 'vllm-own',
        reason: 'group',
        groups: ['coding'],
        protocols: ['chat'],
        user_agents: [],
      },
    ],
  },
});
