import { z } from 'zod';
import { defineRoute } from './route.ts';
import { count, ranged, text, time } from './values.ts';

const line = z.object({
  id: z.int(),
  time,
  actor: z.object({
    /** `person`, `admin_key`, `command`, `file` or `system`. */
    kind: z.string(),
    name: z.string(),
    /** Of a command or the file: the user of the machine whose process it was. */
    user: z.string().nullable(),
    /** Where the person was, or the program with an admin key. */
    address: z.string().nullable(),
  }),
  /** Such as `key.rotate`. */
  action: z.string(),
  object: z.object({ kind: z.string(), id: z.string().nullable(), name: z.string() }),
  /** Every field that changed, as JSON. A secret is only said to have changed. */
  changes: z
    .array(z.object({ field: z.string(), before: z.unknown(), after: z.unknown() }))
    .readonly(),
  reason: z.string().nullable(),
  /** The `x-request-id` of the call. */
  request_id: z.string().nullable(),
});

const name = text(400);

/** All must hold. */
const filters = {
  /** A part of a name, in capitals or not; or the id of a person or an admin key, or the user of the machine. */
  actor: name.optional(),
  actor_kind: z
    .enum(['person', 'admin_key', 'command', 'file', 'system'], {
      error: 'expected person, admin_key, command, file or system',
    })
    .optional(),
  /** Such as `key.rotate`, or `key` for all that is done to keys. */
  action: name.optional(),
  /** A part of a name, in capitals or not; or an id. */
  object: name.optional(),
};

export const listAudit = defineRoute({
  method: 'GET',
  path: '/audit',
  summary: 'Who changed what, newest first',
  permission: 'audit.read',
  query: ranged({
    ...filters,
    limit: count(1, 200).optional(),
    /** `next` of the page before. */
    cursor: z
      .string()
      .regex(/^\d{1,15}$/, 'expected the cursor of a page')
      .transform(Number)
      .optional(),
  }),
  response: z.object({ data: z.array(line), next: z.string().nullable() }),
  example: {
    data: [
      {
        id: 41,
        time: '2026-11-25T10:00:00.000Z',
        actor: { kind: 'person', name: 'ada@example.com', user: null, address: '192.0.2.7' },
        action: 'key.update',
        object: { kind: 'key', id: 'key_2a', name: 'laptop' },
        changes: [{ field: 'rpm', before: 60, after: 30 }],
        reason: null,
        request_id: 'req_9d0mUwX2p0H6cYd3Wc4bT7aA',
      },
    ],
    next: null,
  },
});

export const exportAudit = defineRoute({
  method: 'GET',
  path: '/audit/export',
  summary: 'The same as a file',
  permission: 'audit.read',
  query: ranged({
    ...filters,
    format: z.enum(['csv', 'jsonl'], { error: 'expected csv or jsonl' }),
  }),
  response: z.string(),
  example: 'time,actor_kind,actor,user,address,action,…',
});
