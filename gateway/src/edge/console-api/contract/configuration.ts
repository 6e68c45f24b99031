import { z } from 'zod';
import { defineRoute } from './route.ts';
import { text } from './values.ts';

const origin = z.object({
  from: z.enum(['default', 'file', 'environment']),
  /** In the file. */
  line: z.int().nullable(),
  /** What is filled in: variables of the environment, and `file:` with a path. */
  variables: z.array(z.string()).readonly(),
});

const setting = z.object({
  /** Such as `server.port`, or the name of a variable that no setting of the file stands for. */
  name: z.string(),
  /** As a file has it. Null: nothing is set, or it is secret. */
  value: z.unknown(),
  /** The default. */
  usual: z.unknown(),
  secret: z.boolean(),
  set: z.boolean(),
  origin,
});

export const readConfiguration = defineRoute({
  method: 'GET',
  path: '/config',
  summary: 'The settings in force, and where each of them is from',
  permission: 'config.read',
  response: z.object({
    /** The configuration file; null: there is none. */
    file: z.string().nullable(),
    settings: z.array(setting),
    /** Those that the file has otherwise by now: they take effect at the next start. */
    waiting: z.array(z.string()),
  }),
  example: {
    file: 'sluice.yaml',
    settings: [
      {
        name: 'server.port',
        value: 8090,
        usual: 8080,
        secret: false,
        set: true,
        origin: { from: 'file', line: 3, variables: ['PORT'] },
      },
      {
        name: 'secrets.master_key',
        value: null,
        usual: null,
        secret: true,
        set: true,
        origin: { from: 'environment', line: null, variables: ['SLUICE_MASTER_KEY'] },
      },
    ],
    waiting: [],
  },
});

export const exportConfiguration = defineRoute({
  method: 'GET',
  path: '/config/export',
  summary: 'What is declared in the database as a configuration file, without secrets',
  permission: 'config.read',
  yaml: true,
  response: z.string(),
  example: 'channels:\n  - name: main\n    …',
});

/** Bytes of UTF-8 are at most four times as many. */
const largestText = 60_000;

const line = z.int().nullable();

export const planConfiguration = defineRoute({
  method: 'POST',
  path: '/config/plan',
  summary:
    'What would change if this were the configuration file. Nothing is changed, and no placeholder of it is filled',
  permission: 'config.read',
  body: z.strictObject({
    text: text(largestText, 'the text of a configuration file'),
    /** Whether the file becomes the owner of what was created in the console. */
    take_over: z.boolean('expected true or false').optional(),
  }),
  response: z.object({
    /** Whether the file can be applied. */
    ok: z.boolean(),
    steps: z.array(
      z.object({
        kind: z.string(),
        name: z.string(),
        /** `create`, `update` or `disable`. */
        action: z.string(),
        /** Of a secret it is only said that it changes. */
        changes: z.array(
          z.object({
            field: z.string(),
            before: z.unknown(),
            after: z.unknown(),
            secret: z.boolean(),
          }),
        ),
      }),
    ),
    /** How many further steps there are. */
    more_steps: z.int(),
    /** Those that would change at a start with the file. */
    settings: z.array(z.object({ name: z.string(), before: z.unknown(), after: z.unknown() })),
    /** Why the file cannot be applied. */
    conflicts: z.array(z.string()).readonly(),
    notes: z.array(z.string()).readonly(),
    /** What is taken as it is in force. */
    not_compared: z.array(
      z.object({ line, path: z.string(), reason: z.enum(['placeholder', 'secret']) }),
    ),
  }),
  example: {
    ok: true,
    steps: [
      {
        kind: 'channel',
        name: 'main',
        action: 'update',
        changes: [{ field: 'weight', before: 1, after: 3, secret: false }],
      },
    ],
    more_steps: 0,
    settings: [{ name: 'server.port', before: 8080, after: 8090 }],
    conflicts: [],
    notes: [],
    not_compared: [{ line: 12, path: 'channels[0].api_key', reason: 'secret' }],
  },
});
