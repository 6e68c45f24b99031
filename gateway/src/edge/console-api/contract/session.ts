import { z } from 'zod';
import { permissions } from './permissions.ts';
import { defineRoute } from './route.ts';
import { text } from './values.ts';

/** What a person has chosen for every browser; absent: nothing, and each browser decides. */
const preferences = z.object({
  language: z.string().optional(),
  theme: z.string().optional(),
  /** Views of pages under names, in the person's order. */
  views: z
    .array(
      z.object({
        name: z.string(),
        page: z.enum(['requests', 'usage', 'records']).optional(),
        search: z.string(),
      }),
    )
    .readonly()
    .optional(),
  /** Columns that the person does not want to see, by table. */
  hidden_columns: z
    .object({
      requests: z.array(z.string()).readonly().optional(),
      keys: z.array(z.string()).readonly().optional(),
    })
    .optional(),
});

export const session = z.object({
  user: z.object({
    id: z.string(),
    email: z.string(),
    name: z.string().nullable(),
    role: z.string(),
    /** Whether the name may be changed here: the file does not declare the person. */
    editable: z.boolean(),
  }),
  preferences,
  /** Whether the person set the gateway up and has not been through the first steps. */
  welcome: z.boolean(),
  permissions: z.array(z.enum(permissions)),
  /** Whether the person may use the playground. */
  playground: z.boolean(),
  /** The teams that the person belongs to; `owner` has to do with all keys and requests of the team. */
  teams: z.array(
    z.object({
      name: z.string(),
      role: z.string(),
      /** Those that the person may give a key that acts for the team. */
      groups: z.array(z.string()),
    }),
  ),
  /** Those that the person may give to their own keys. */
  groups: z.array(z.string()),
  /** Goes into the header `x-sluice-csrf` of every write. */
  csrf_token: z.string(),
  /** Whether the connection is neither encrypted nor from this machine, so that others can read it. */
  insecure: z.boolean(),
  gateway: z.object({ version: z.string(), url: z.string() }),
});

export const sessionExample: z.input<typeof session> = {
  user: { id: 'usr_1f', email: 'admin@localhost', name: null, role: 'admin', editable: true },
  preferences: {
    language: 'en',
    views: [{ name: 'Failed today', search: 'filter=outcome%3Afailed' }],
    hidden_columns: { requests: ['client'] },
  },
  welcome: true,
  permissions: ['own', 'usage.read', 'keys.read', 'keys.write', 'models.read', 'health.read'],
  playground: true,
  teams: [{ name: 'research', role: 'owner', groups: ['default', 'batch'] }],
  groups: ['default'],
  csrf_token: 'q1kz…',
  insecure: false,
  gateway: { version: '0.1.0', url: 'http://127.0.0.1:8080' },
};

/** Starts a session, in a cookie. */
export const login = defineRoute({
  method: 'POST',
  path: '/auth/login',
  summary: 'Sign in with an e-mail address and a password',
  permission: 'nobody',
  body: z.strictObject({
    email: text(254, 'an e-mail address'),
    password: z.string().min(1, 'expected a password').max(1_024),
    /** Of the second factor, or a recovery code; without it, whoever has one gets `second_factor_required`. */
    code: text(40, 'a code').optional(),
  }),
  response: session,
  example: sessionExample,
});

export const logout = defineRoute({
  method: 'POST',
  path: '/auth/logout',
  summary: 'Sign out in this browser',
  permission: 'own',
  callers: 'people',
  response: z.object({}),
  example: {},
});

export const readSession = defineRoute({
  method: 'GET',
  path: '/session',
  summary: 'Who is signed in, and what this person may do',
  permission: 'own',
  callers: 'people',
  response: session,
  example: sessionExample,
});
