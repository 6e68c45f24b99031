import { z } from 'zod';
import { kinds } from '#config/index.ts';
import { givenAnytime, shownMembers } from './members.ts';
import { defineRoute } from './route.ts';
import { blame, management, text, time } from './values.ts';

/** A secret as it is shown: its first and last characters, of a longer one. */
const hint = z.object({ hint: z.string() });

const members = shownMembers(kinds.channel);

const channel = z.object({
  id: z.string(),
  ...members,
  models: z.array(z.union([z.string(), z.object({ name: z.string(), upstream: z.string() })])),
  timeouts: z.record(z.string(), z.string()),
  /** In their order, which tells apart those that look alike. */
  api_keys: z.array(hint.extend({ number: z.int() })),
  /** By their names. */
  headers: z.record(z.string(), hint),
  /** `direct`, or the address of a proxy without its credentials; null: the environment's. */
  proxy: z.string().nullable(),
  ...management,
});

const example = {
  id: 'ch_3f',
  name: 'azure-eu',
  provider: 'openai-compatible',
  base_url: 'https://eu.example.com/v1',
  protocols: ['chat'],
  groups: ['default'],
  models: ['gpt-5', { name: 'fast', upstream: 'gpt-5-mini' }],
  priority: 10,
  weight: 1,
  user_agents: [],
  timeouts: { first_byte: '30s' },
  bills_after_cancel: false,
  cache: 'auto',
  state: 'guarded',
  shared_state: [],
  enabled: true,
  api_keys: [{ hint: 'sk-…9f2a', number: 1 }],
  headers: {},
  proxy: null,
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 31,
  created: '2026-11-25T10:00:00.000Z',
};

/** Why a channel does not work, or that it does. */
const trialClasses = [
  'works',
  'no-text-model',
  'no-address',
  'not-allowed',
  'no-connection',
  'closed',
  'tls',
  'credential',
  'funds',
  'unknown',
  'limited',
  'refused',
  'upstream',
  'time',
  'form',
  'cut',
] as const;

const trialSteps = ['resolve', 'connect', 'tls', 'status', 'first_token', 'end'] as const;

/** The id of a channel, or its name. */
const parameters = z.strictObject({ id: z.string().max(200) });

/** Only kinds of values: what they may be are the rules of the file. */
const given = {
  ...givenAnytime(kinds.channel),
  models: z
    .array(
      z.union(
        [
          z.string(),
          z.strictObject({ name: z.string(), upstream: z.string().nullable().optional() }),
        ],
        'expected a model name, or its name and its upstream name',
      ),
      'expected a list',
    )
    .nullable()
    .optional(),
  timeouts: z.record(z.string(), z.string('expected a time such as 30s')).nullable().optional(),
  /** A stored one is kept by its hint, and by its number where several look alike. */
  api_keys: z
    .array(
      z.union(
        [z.string(), z.strictObject({ hint: z.string(), number: z.int().min(1).optional() })],
        'expected an API key, or the hint of a stored one',
      ),
      'expected a list',
    )
    .max(100, 'expected at most 100 API keys')
    .nullable()
    .optional(),
  /** Those that are not given stay; null removes one. */
  headers: z.record(z.string(), z.string('expected text').nullable()).nullable().optional(),
  proxy: z.string('expected text').nullable().optional(),
};

/** What the attempts of all nodes say about a channel. */
/** How a process uses a channel. */
export const channelStates = ['works', 'rests', 'tries', 'waits', 'refused'] as const;

export const verdicts = ['answers', 'unsteady', 'fails', 'unasked'] as const;

export const listChannels = defineRoute({
  method: 'GET',
  path: '/channels',
  summary: 'All channels: what became of their attempts, and how this process uses them',
  permission: 'channels.read',
  response: z.object({
    /** Whether every answer is made up: all enabled channels lead to simulators. */
    simulated: z.boolean(),
    data: z.array(
      z.object({
        id: z.string(),
        name: z.string(),
        provider: z.string(),
        protocols: z.array(z.string()),
        groups: z.array(z.string()),
        /** The names that clients use. */
        models: z.array(z.string()),
        priority: z.int(),
        weight: z.int(),
        enabled: z.boolean(),
        ...management,
        /** How many models no other enabled channel serves to one of its groups, and the first of them by name. */
        alone: z.object({ count: z.int(), models: z.array(z.string()) }),
        api_keys: z.array(
          /** As this process knows it; null: it does not use the channel. */
          hint.extend({ state: z.enum(['ready', 'cooling', 'disabled']).nullable() }),
        ),
        /**
         * In this process: `works`; `rests`: others are preferred, because it has failed; `tries`: one request at a time shows whether it
         * works again; `waits`: the upstream asked for a pause; `refused`: the upstream refuses every credential. Null: it is
         * not enabled, or not here yet.
         */
        state: z.enum(channelStates).nullable(),
        /** Milliseconds until this process tries it again; 0: it may be asked now. */
        rest_ms: z.number(),
        credentials: z.object({ ready: z.int(), cooling: z.int(), disabled: z.int() }),
        /**
         * By the attempts of all nodes: `answers`; `unsteady`: a tenth or more of those of the last hours failed;
         * `fails`: it has failed since `failing.since`; `unasked`: there were no attempts in the last 24 hours.
         */
        verdict: z.enum(verdicts),
        /** The last 24 hours of all nodes, over its attempts; null: there were none. */
        recent: z
          .object({
            attempts: z.int(),
            failed: z.int(),
            success: z.number(),
            /** The share of each hour that succeeded. */
            hours: z.array(z.number().nullable()),
            /** The mean of its attempts that streamed. */
            first_token_ms: z.number().nullable(),
            /** Failures by their word, the most frequent first. */
            errors: z.array(z.object({ error: z.string(), attempts: z.int() })),
            answered_at: time.nullable(),
            /** The failures since it last answered; null: there are none. */
            failing: z.object({ since: time, attempts: z.int() }).nullable(),
            last_failure: z
              .object({
                request: z.string(),
                time,
                error: z.string(),
                blame,
                status: z.int().nullable(),
                /** The upstream's words, cleaned; null: none are kept, or the role may not read them. */
                words: z.string().nullable(),
              })
              .nullable(),
          })
          .nullable(),
      }),
    ),
  }),
  example: {
    simulated: false,
    data: [
      {
        id: 'ch_1f',
        name: 'demo',
        provider: 'simulator',
        protocols: ['chat', 'messages'],
        groups: ['default'],
        models: ['demo-chat'],
        priority: 0,
        weight: 1,
        enabled: true,
        owner: 'system',
        editable: true,
        declared_in: null,
        revision: 3,
        created: '2026-11-25T10:00:00.000Z',
        alone: { count: 1, models: ['demo-chat'] },
        api_keys: [],
        state: 'works',
        rest_ms: 0,
        credentials: { ready: 1, cooling: 0, disabled: 0 },
        verdict: 'answers',
        recent: {
          attempts: 1_204,
          failed: 2,
          success: 0.998,
          hours: [...Array.from({ length: 24 }, () => null), 0.998],
          first_token_ms: 420,
          errors: [{ error: 'overloaded', attempts: 2 }],
          answered_at: '2026-11-25T10:00:00.000Z',
          failing: null,
          last_failure: {
            request: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
            time: '2026-11-25T09:12:04.000Z',
            error: 'overloaded',
            blame: 'channel',
            status: 503,
            words: 'queue is full',
          },
        },
      },
    ],
  },
});

export const readChannel = defineRoute({
  method: 'GET',
  path: '/channels/:id',
  summary: 'One channel with its settings, with its revision in `etag`',
  permission: 'channels.read',
  parameters,
  response: channel,
  example,
});

export const readChannelForm = defineRoute({
  method: 'GET',
  path: '/forms/channel',
  summary:
    'What a form for channels needs: their members as the file describes them, and the vendors',
  permission: 'channels.read',
  response: z.object({
    /** In the order of the file. */
    members: z.array(
      z.object({
        name: z.string(),
        form: z.enum(['text', 'choice', 'count', 'flag', 'names', 'structure']),
        /** What it, an item, or a name in it is one of; null: it is free. */
        choices: z.array(z.string()).nullable(),
        /** What a channel without it has; null: nothing, or it is needed. */
        usual: z.unknown(),
        /** Shown by a hint only. */
        secret: z.boolean(),
      }),
    ),
    /** Values of `provider`, and public servers with the provider that speaks to them. */
    vendors: z.array(
      z.object({
        name: z.string(),
        provider: z.string(),
        /** Null: it has to be given. */
        base_url: z.string().nullable(),
        protocols: z.array(z.string()),
        also_speaks: z.array(z.string()),
        /** How its keys begin, where that is known. */
        key_beginnings: z.array(z.string()),
      }),
    ),
    groups: z.array(z.string()),
    /** Names that a channel may serve, as far as the catalogue knows them. */
    models: z.array(z.string()),
  }),
  example: {
    members: [
      { name: 'priority', form: 'count', choices: null, usual: 0, secret: false },
      { name: 'cache', form: 'choice', choices: ['auto', 'off'], usual: 'auto', secret: false },
    ],
    vendors: [
      {
        name: 'anthropic',
        provider: 'anthropic',
        base_url: 'https://api.anthropic.com/v1',
        protocols: ['messages'],
        also_speaks: [],
        key_beginnings: ['sk-ant-'],
      },
    ],
    groups: ['default'],
    models: ['claude-sonnet-5'],
  },
});

export const createChannel = defineRoute({
  method: 'POST',
  path: '/channels',
  status: 201,
  summary: 'Add a channel; secrets are shown by hints only',
  permission: 'channels.write',
  // A name is needed, which the rules of the file say together with what else is wrong.
  body: z.strictObject({ name: text(200, 'a channel name').optional(), ...given }),
  response: channel,
  example,
});

export const changeChannel = defineRoute({
  method: 'PATCH',
  path: '/channels/:id',
  summary:
    'Change settings; `null` stands for none. Needs `if-match` with the revision. Another provider, address, proxy or header needs the credentials again',
  permission: 'channels.write',
  parameters,
  body: z.strictObject(given),
  response: channel,
  example: { ...example, priority: 20 },
});

export const resetChannel = defineRoute({
  method: 'POST',
  path: '/channels/:id/reset',
  summary: 'End the pauses of a channel and of its credentials, on every node',
  permission: 'channels.write',
  parameters,
  response: channel,
  example,
});

export const testChannel = defineRoute({
  method: 'POST',
  path: '/channels/test',
  summary:
    'Send one small request to a channel as it is, as it would be after a change, or as it would be made. Nobody is charged; ten a minute',
  permission: 'channels.write',
  body: z.strictObject({
    /** The channel that exists; absent: the members are those of a new one. */
    id: z.string().max(100).optional(),
    /** A name that clients use; absent: the first that is named exactly. */
    model: text(200, 'a model name').optional(),
    name: text(200, 'a channel name').optional(),
    ...given,
  }),
  response: z.object({
    class: z.enum(trialClasses),
    /** What to do about it, in a sentence; empty if it works. */
    advice: z.string(),
    steps: z.array(
      z.object({
        step: z.enum(trialSteps),
        /** Since the step before; null: it was not reached, or cannot be seen. */
        ms: z.int().nullable(),
        ok: z.boolean(),
      }),
    ),
    model: z.string().nullable(),
    /** The upstream's; null: there was none. */
    status: z.int().nullable(),
    /** What the model said, or the error as a client would get it. */
    text: z.string(),
    /** What the upstream said about its failure, cleaned; null: nothing in a known form. */
    words: z.string().nullable(),
    /** What was sent, with `…` in the place of secrets; null: nothing was. */
    request: z
      .object({
        method: z.string(),
        url: z.string(),
        headers: z.record(z.string(), z.string()),
        /** JSON. */
        body: z.string(),
      })
      .nullable(),
    usage: z.object({ input: z.int(), output: z.int() }).nullable(),
  }),
  example: {
    class: 'credential',
    advice:
      'The upstream does not accept the API key. Check that it is complete, and that it belongs to this address.',
    steps: [
      { step: 'resolve', ms: 4, ok: true },
      { step: 'connect', ms: 18, ok: true },
      { step: 'tls', ms: 31, ok: true },
      { step: 'status', ms: 92, ok: true },
      { step: 'first_token', ms: null, ok: false },
      { step: 'end', ms: null, ok: false },
    ],
    model: 'gpt-5',
    status: 401,
    text: 'the upstream refused its credential',
    words: 'invalid_api_key: Incorrect API key provided: [key]',
    request: {
      method: 'POST',
      url: 'https://eu.example.com/v1/chat/completions',
      headers: { 'content-type': 'application/json', authorization: 'Bearer …' },
      body: '{"model":"gpt-5","stream":true}',
    },
    usage: null,
  },
});

export const findChannelModels = defineRoute({
  method: 'POST',
  path: '/channels/models',
  summary:
    'The models that the upstream lists for a channel as it is, would be after a change, or would be made, compared with the channel and the catalogue. Counts with the tests',
  permission: 'channels.write',
  body: z.strictObject({
    id: z.string().max(100).optional(),
    name: text(200, 'a channel name').optional(),
    ...given,
  }),
  response: z.object({
    /** As of a test; `no-list`: the vendor has no list that the gateway knows. */
    class: z.enum([...trialClasses, 'no-list']),
    advice: z.string(),
    status: z.int().nullable(),
    words: z.string().nullable(),
    models: z.array(
      z.object({
        /** At the upstream. */
        name: z.string(),
        /** The names under which this channel serves it to clients; empty: it does not. */
        served_as: z.array(z.string()),
        /** How many other enabled channels serve it. */
        others: z.int(),
        /** The id in the catalogue; null: it is not in it. */
        model: z.string().nullable(),
        /** Whether it could be charged. */
        priced: z.boolean(),
        /** USD per million tokens; null: there is no such price. */
        input: z.string().nullable(),
        output: z.string().nullable(),
      }),
    ),
    /** Names at the upstream that this channel maps to, and that the list does not have. */
    missing: z.array(z.string()),
  }),
  example: {
    class: 'works',
    advice: '',
    status: 200,
    words: null,
    models: [
      {
        name: 'gpt-5',
        served_as: ['gpt-5'],
        others: 1,
        model: 'gpt-5',
        priced: true,
        input: '1.25',
        output: '10',
      },
    ],
    missing: ['gpt-5-eu'],
  },
});

/** What came of a test, without advice. */
export type ChannelTrialResult = Omit<z.input<typeof testChannel.response>, 'advice'>;

/** What an upstream lists, before it is compared. */
export interface UpstreamModels extends Pick<
  z.input<typeof findChannelModels.response>,
  'class' | 'status' | 'words'
> {
  readonly names: readonly string[];
}
