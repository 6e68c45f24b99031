import { z } from 'zod';
import { adminKey, parseEntry } from '#config/index.ts';
import { givenOnce, shownMembers, shownValues } from './members.ts';
import { defineRoute } from './route.ts';
import { count, time } from './values.ts';

/** Neither the secret nor a hash of it. */
const key = z.object({
  id: z.string(),
  ...shownMembers(adminKey),
  expires_at: time,
  /** The first and last characters of the secret. */
  prefix: z.string(),
  /** Whether it opens something: it is neither revoked nor expired. */
  active: z.boolean(),
  /** Who made it; null: a command did. */
  created_by: z
    .object({
      id: z.string(),
      email: z.string(),
      /** Whether this person could make it today: the key works in any case. */
      administrator: z.boolean(),
    })
    .nullable(),
  created: time,
  /** To within a minute; null: never. */
  last_used_at: time.nullable(),
  last_used_address: z.string().nullable(),
  revoked_at: time.nullable(),
});

const issuedKey = key.extend({
  /** The secret. No other response has it, not even the one to a repeated call. */
  key: z.string().optional(),
});

const example = key.parse({
  id: 'adm_5e',
  ...shownValues(
    adminKey,
    parseEntry(adminKey, {
      name: 'terraform',
      role: 'admin',
      expires_at: '2027-02-23T10:00:00Z',
      ips: ['192.0.2.0/24'],
    }),
  ),
  prefix: 'sa-AbCd…wxyz',
  active: true,
  created_by: { id: 'usr_1f', email: 'ada@example.com', administrator: true },
  created: '2026-11-25T10:00:00.000Z',
  last_used_at: '2026-11-25T11:42:07.113Z',
  last_used_address: '192.0.2.7',
  revoked_at: null,
});

export const listAdminKeys = defineRoute({
  method: 'GET',
  path: '/admin-keys',
  summary: 'Keys with which programs administer the gateway, the latest first',
  permission: 'admin-keys.write',
  callers: 'people',
  query: z.strictObject({
    limit: count(1, 200).optional(),
    /** `next` of the page before. */
    cursor: z
      .string()
      .regex(/^\d{1,15}_\w{1,40}$/, 'expected the next of a page before')
      .optional(),
  }),
  response: z.object({ data: z.array(key), next: z.string().nullable() }),
  example: { data: [example], next: null },
});

export const createAdminKey = defineRoute({
  method: 'POST',
  path: '/admin-keys',
  status: 201,
  summary:
    'Make an admin key: `authorization: Bearer sa-…` opens this API with its role, for 90 days unless `expires_at` says otherwise, at most 366. The response is the only one with its secret',
  permission: 'admin-keys.write',
  callers: 'people',
  body: z.strictObject({ name: z.string('expected a name'), ...givenOnce(adminKey) }),
  response: issuedKey,
  example: { ...example, key: 'sa-AbCd…' },
});

export const revokeAdminKey = defineRoute({
  method: 'DELETE',
  path: '/admin-keys/:id',
  summary: 'Revoke an admin key for good',
  permission: 'admin-keys.write',
  callers: 'people',
  parameters: z.strictObject({ id: z.string().max(100) }),
  response: key,
  example: { ...example, active: false, revoked_at: '2026-12-01T08:00:00.000Z' },
});
