import { z } from 'zod';
import { kinds } from '#config/index.ts';
import { givenAnytime, givenOnce, shownMembers } from './members.ts';
import { defineRoute } from './route.ts';
import { session, sessionExample } from './session.ts';
import {
  count,
  management,
  moneyLimit,
  newPassword,
  ranged,
  searchText,
  text,
  time,
  usageSum,
} from './values.ts';

const members = shownMembers(kinds.user);

const user = z.object({
  id: z.string(),
  /** `balance`: what is left of it now. */
  ...members,
  /** What the person may spend in total without a team; null: no such limit. */
  limit: moneyLimit.nullable(),
  teams: z.array(z.object({ id: z.string(), name: z.string(), role: z.string() })),
  /** Keys that can be used. */
  keys: z.int(),
  /** Requests of the range, also those that teams pay for. */
  usage: usageSum,
  /** The latest request, or the latest look at the console; null: neither is known. */
  last_seen_at: time.nullable(),
  /** Whether the person can sign in. */
  has_password: z.boolean(),
  /** Whether a code is asked for besides the password. */
  second_factor: z.boolean(),
  /** Whether the account is connected to a provider. */
  connected: z.boolean(),
  /** Until when the person can set a password by a link; null: there is none. */
  invited_until: time.nullable(),
  /** How often the person is signed in. */
  sessions: z.int(),
  ...management,
});

const example: z.input<typeof user> = {
  id: 'usr_1f',
  email: 'grace@example.com',
  name: 'Grace',
  role: 'member',
  balance: '12.4',
  quota: '200',
  groups: ['default'],
  enabled: true,
  limit: { limit: '200', spent: '191.3', held: '1.6', window: null },
  teams: [{ id: 'team_7c', name: 'research', role: 'member' }],
  keys: 3,
  usage: { requests: 4_120, cost: '191.3' },
  last_seen_at: '2026-11-25T09:58:12.401Z',
  has_password: true,
  second_factor: false,
  connected: false,
  invited_until: null,
  sessions: 2,
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 40,
  created: '2026-11-03T10:00:00.000Z',
};

/** The id of a person, or the e-mail address. */
const parameters = z.strictObject({ id: text(300) });

export const listUsers = defineRoute({
  method: 'GET',
  path: '/users',
  summary: 'People by e-mail address, with their requests of a range',
  permission: 'users.read',
  query: ranged({
    limit: count(1, 200).optional(),
    cursor: text(400).optional(),
    /** What the address or the name contains, in capitals or not. */
    q: searchText,
  }),
  response: z.object({ data: z.array(user), next: z.string().nullable() }),
  example: { data: [example], next: null },
});

export const readUser = defineRoute({
  method: 'GET',
  path: '/users/:id',
  summary: 'One person, with the revision in `etag`',
  permission: 'users.read',
  parameters,
  query: ranged({}),
  response: user,
  example,
});

export const createUser = defineRoute({
  method: 'POST',
  path: '/users',
  status: 201,
  summary: 'Add a person, who can sign in after an invitation',
  permission: 'users.write',
  body: z.strictObject({ email: text(254, 'an e-mail address'), ...givenOnce(kinds.user) }),
  response: user,
  example: { ...example, has_password: false, sessions: 0 },
});

export const changeUser = defineRoute({
  method: 'PATCH',
  path: '/users/:id',
  summary:
    'Change settings; `null` stands for none. Needs `if-match` with the revision. Another role, or disabling the person, ends all sessions',
  permission: 'users.write',
  parameters,
  body: z.strictObject(givenAnytime(kinds.user)),
  response: user,
  example: { ...example, role: 'billing', sessions: 0 },
});

export const inviteUser = defineRoute({
  method: 'POST',
  path: '/users/:id/invite',
  status: 201,
  summary:
    'Make a link with which a person sets a password, the first one or another, once and within 48 hours; an earlier link ends. The response is the only one with it',
  permission: 'users.write',
  parameters,
  response: z.object({ link: z.string(), expires_at: time }),
  example: {
    link: 'https://sluice.example.com/console/invite#q1kz…',
    expires_at: '2026-11-27T10:00:00.000Z',
  },
});

export const signOutUser = defineRoute({
  method: 'POST',
  path: '/users/:id/sign-out',
  summary: 'End all sessions of a person',
  permission: 'users.write',
  parameters,
  response: z.object({
    /** How many there were. */
    ended: z.int(),
  }),
  example: { ended: 2 },
});

export const unlinkUser = defineRoute({
  method: 'DELETE',
  path: '/users/:id/oidc',
  summary:
    'Disconnect an account from its provider, and end all sessions. The person needs a password',
  permission: 'users.write',
  parameters,
  response: z.object({
    /** How many connections there were. */
    ended: z.int(),
  }),
  example: { ended: 1 },
});

/** Starts a session, in a cookie. */
export const acceptInvitation = defineRoute({
  method: 'POST',
  path: '/auth/invite',
  summary:
    'Set a password with the token of an invitation, which ends all sessions, and sign in; with a second factor, the sign-in is apart',
  permission: 'nobody',
  body: z.strictObject({
    /** What stands behind the `#` of the link. */
    token: text(100, 'the token of an invitation'),
    password: newPassword,
  }),
  response: session,
  example: sessionExample,
});
