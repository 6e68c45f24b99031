import { z } from 'zod';
import { defineRoute } from './route.ts';
import { proof, text } from './values.ts';

/** Where a browser is sent. */
const elsewhere = z.object({});

/** Whether a sign-in may end at this address: a page of the console, and nothing else. */
function isConsolePath(path: string): boolean {
  // oxlint-disable-next-line no-control-regex -- browsers drop some of them, and others mean a new line of a header
  if (!/^\/console(?:[/?#]|$)/.test(path) || /[\\\u0000-\u0020\u007f-\uffff]/.test(path))
    return false;
  const [name = ''] = path.split(/[?#]/);
  if (name.includes('//')) return false;
  const url = new URL(path, 'http://console.invalid');
  return url.host === 'console.invalid' && /^\/console(?:\/|$)/.test(url.pathname);
}

const to = text(1_000, 'a page of the console')
  .refine(isConsolePath, 'expected a path such as /console/keys')
  .optional();

export const readMethods = defineRoute({
  method: 'GET',
  path: '/auth/methods',
  summary: 'How people sign in at this gateway',
  permission: 'nobody',
  response: z.object({
    /** Who signs in with a password: `everybody`, or `one` administrator as a way in if the provider fails. */
    password: z.enum(['everybody', 'one']),
    /** Null: there is no other way. */
    oidc: z.object({ name: z.string(), start: z.string() }).nullable(),
  }),
  example: {
    password: 'everybody',
    oidc: { name: 'Example', start: 'https://sluice.example.com/admin/v1/auth/oidc/start' },
  },
});

export const readSignInSettings = defineRoute({
  method: 'GET',
  path: '/sign-in',
  summary: 'The ways to sign in that are in force, without secrets, and how many people have which',
  permission: 'config.read',
  response: z.object({
    /** Who signs in with a password. */
    password: z.enum(['everybody', 'one']),
    /** Null: there is no provider. */
    oidc: z
      .object({
        name: z.string(),
        issuer: z.string(),
        client_id: z.string(),
        redirect_uri: z.string(),
        scopes: z.array(z.string()).readonly(),
        /** None: all. */
        domains: z.array(z.string()).readonly(),
        create: z.boolean(),
        role: z.string(),
        role_claim: z.string().nullable(),
        role_map: z.record(z.string(), z.string()),
      })
      .nullable(),
    /** Enabled people, and those of them who have a password, a connection to the provider, a second factor. */
    people: z.object({
      all: z.int(),
      password: z.int(),
      oidc: z.int(),
      second_factor: z.int(),
    }),
  }),
  example: {
    password: 'everybody',
    oidc: {
      name: 'Example',
      issuer: 'https://login.example.com',
      client_id: 'sluice',
      redirect_uri: 'https://ai.example.com/admin/v1/auth/oidc/callback',
      scopes: ['openid', 'email', 'profile', 'groups'],
      domains: ['example.com'],
      create: true,
      role: 'member',
      role_claim: 'groups',
      role_map: { 'ai-admins': 'admin' },
    },
    people: { all: 400, password: 12, oidc: 396, second_factor: 9 },
  },
});

export const startOidc = defineRoute({
  method: 'GET',
  path: '/auth/oidc/start',
  status: 303,
  summary:
    'Lead the browser to the provider, to sign in there; `to` is the page of the console that follows',
  permission: 'nobody',
  query: z.strictObject({ to }),
  response: elsewhere,
  example: {},
});

export const finishOidc = defineRoute({
  method: 'GET',
  path: '/auth/oidc/callback',
  status: 303,
  summary:
    'Where the provider leads back to. Starts a session, in a cookie, and leads to the page that was asked for',
  permission: 'nobody',
  // Providers add parameters of their own.
  query: z.object({}),
  response: elsewhere,
  example: {},
});

export const unlinkOidc = defineRoute({
  method: 'DELETE',
  path: '/me/oidc',
  summary: 'Disconnect the own account from its provider, with the password or a code',
  permission: 'own',
  callers: 'people',
  body: proof,
  response: z.object({}),
  example: {},
});

export const linkOidc = defineRoute({
  method: 'POST',
  path: '/me/oidc',
  summary:
    'Begin a sign-in at the provider which links the own account to it, with the password or a code if there is a password; the browser goes to `location`',
  permission: 'own',
  callers: 'people',
  body: proof,
  response: z.object({ location: z.string() }),
  example: { location: 'https://login.example.com/authorize?client_id=sluice&state=q1kz…' },
});
