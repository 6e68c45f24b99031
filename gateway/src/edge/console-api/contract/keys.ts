import { z } from 'zod';
import { kinds, parseEntry } from '#config/index.ts';
import { givenAnytime, givenOnce, shownMembers, shownValues, upTo } from './members.ts';
import { defineRoute } from './route.ts';
import { count, management, money, searchText, text, time } from './values.ts';

const members = shownMembers(kinds.key);

/** Neither the secret nor a hash of it. */
const key = z.object({
  id: z.string(),
  ...upTo(members, 'name'),
  /** The first and last characters of the secret; empty while there is none. */
  prefix: z.string(),
  ...upTo(members, 'quota'),
  spent: money,
  ...members,
  ...management,
  /** Whether its secret may be replaced here: it has one, the file does not set it, and the key is not revoked. */
  rotatable: z.boolean(),
  /** Its latest request, also a refused one; null: never. To the hour, if the row is no longer kept. */
  last_used_at: time.nullable(),
  /** The family of that request's client; null: never used, or no longer kept. */
  last_used_client: z.string().nullable(),
  revoked_at: time.nullable(),
  /** Until when the secret before the last rotation is valid; null: it is not. */
  previous_valid_until: time.nullable(),
});

const issuedKey = key.extend({
  /** The secret. No other response has it, not even the one to a repeated call. */
  key: z.string().optional(),
});

const example = key.parse({
  id: 'key_2a',
  ...shownValues(
    kinds.key,
    parseEntry(kinds.key, {
      name: 'laptop',
      user: 'ada@example.com',
      models: ['demo-chat'],
      quota: '50',
      expires_at: '2027-01-29T00:00:00Z',
      rpm: '60',
    }),
  ),
  prefix: 'sk-AbCd…wxyz',
  spent: '31.21',
  owner: 'console',
  editable: true,
  declared_in: null,
  revision: 12,
  rotatable: true,
  created: '2026-11-25T10:00:00.000Z',
  last_used_at: '2026-11-25T11:42:07.113Z',
  last_used_client: 'claude-code',
  revoked_at: null,
  previous_valid_until: null,
} satisfies z.input<typeof key>);

const parameters = z.strictObject({ id: z.string().max(100) });

export const listKeys = defineRoute({
  method: 'GET',
  path: '/keys',
  summary: 'Keys by name',
  permission: 'own',
  query: z.strictObject({
    limit: count(1, 200).optional(),
    cursor: z.string().min(1).max(400).optional(),
    /** What the name contains, in capitals or not. */
    q: searchText,
    /** The e-mail address of whose keys. */
    user: text(254).optional(),
  }),
  response: z.object({ data: z.array(key), next: z.string().nullable() }),
  example: { data: [example], next: null },
});

export const readKey = defineRoute({
  method: 'GET',
  path: '/keys/:id',
  summary:
    'One key, with its revision in `etag`; as YAML: its entry for the file, without the secret',
  permission: 'own',
  yaml: true,
  parameters,
  query: z.strictObject({ as: z.literal('yaml', 'expected yaml').optional() }),
  response: key,
  example,
});

export const changeKey = defineRoute({
  method: 'PATCH',
  path: '/keys/:id',
  summary: 'Change settings; `null` stands for none. Needs `if-match` with the revision',
  permission: 'own',
  parameters,
  body: z.strictObject(givenAnytime(kinds.key)),
  response: key,
  example: { ...example, quota: '20' },
});

export const createKey = defineRoute({
  method: 'POST',
  path: '/keys',
  status: 201,
  summary: 'Make a key; the response is the only one with its secret',
  permission: 'own',
  body: z.strictObject({
    name: z.string('expected a key name'),
    /** Without a user: the caller. */
    ...givenOnce(kinds.key),
  }),
  response: issuedKey,
  example: { ...example, key: 'sk-AbCd…' },
});

export const rotateKey = defineRoute({
  method: 'POST',
  path: '/keys/:id/rotate',
  summary: 'Replace the secret; the response is the only one with the new one',
  permission: 'own',
  parameters,
  body: z.strictObject({
    /** How long the old secret stays valid: seconds, or text such as `24h`. */
    grace: z
      .union([z.string(), z.int().min(0)], 'expected seconds, or a time such as 24h')
      .optional(),
  }),
  response: issuedKey,
  example: {
    ...example,
    key: 'sk-AbCd…',
    previous_valid_until: '2026-11-26T10:00:00.000Z',
  },
});

export const revokeKey = defineRoute({
  method: 'POST',
  path: '/keys/:id/revoke',
  summary: 'End a key for good',
  permission: 'own',
  parameters,
  response: key,
  example: { ...example, revoked_at: '2026-11-25T12:00:00.000Z', rotatable: false },
});
