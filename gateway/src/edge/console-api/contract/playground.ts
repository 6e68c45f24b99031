import { z } from 'zod';
import { defineRoute } from './route.ts';
import { text, time } from './values.ts';

export const playgroundKey = defineRoute({
  method: 'POST',
  path: '/playground/key',
  summary: 'The key of this session, with which a page asks models',
  permission: 'own',
  callers: 'people',
  body: z.strictObject({
    /** A team of the person, which pays; absent: the person does. */
    team: text(200, 'a team name').optional(),
    /** Absent: `default`. */
    group: text(200, 'a group name').optional(),
  }),
  response: z.object({
    /** The same for every page of the session. It ends with the session. */
    key: z.string(),
    expires_at: time,
  }),
  example: { key: 'sk-AbCd…', expires_at: '2026-11-25T22:00:00.000Z' },
});
