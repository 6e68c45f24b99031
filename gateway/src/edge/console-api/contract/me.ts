import { z } from 'zod';
import { defineRoute } from './route.ts';
import { session, sessionExample } from './session.ts';
import { newPassword, text, time } from './values.ts';

/** Enough for anybody, and little enough to come with every session. */
const mostViews = 20;

const mostColumns = 20;
const columns = z
  .array(text(40, 'the name of a column'), 'expected a list')
  .max(mostColumns, `expected at most ${mostColumns} columns`)
  .readonly()
  .optional();

export const changeMe = defineRoute({
  method: 'PATCH',
  path: '/me',
  summary: 'Change the own name, or keep what the person has chosen',
  permission: 'own',
  callers: 'people',
  body: z.strictObject({
    /** As other people see it; null: none. The file's people are changed in the file. */
    name: z.string('expected a name').nullable().optional(),
    language: z.enum(['en', 'zh-CN'], 'expected en or zh-CN').optional(),
    theme: z.enum(['system', 'light', 'dark'], 'expected system, light or dark').optional(),
    /** The first steps are done, or not wanted. */
    welcomed: z.literal(true, 'expected true').optional(),
    /** Views of pages; all of them, in their order. */
    views: z
      .array(
        z.strictObject({
          name: text(64, 'a name').refine((name) => name.trim() === name, 'expected a name'),
          /** Absent: `requests`. */
          page: z
            .enum(['requests', 'usage', 'records'], 'expected requests, usage or records')
            .optional(),
          /** What stands behind the `?` of its address. */
          search: z.string('expected text').max(1_000, 'expected at most 1000 characters'),
        }),
        'expected a list',
      )
      .max(mostViews, `expected at most ${mostViews} views`)
      .refine(
        (views) => new Set(views.map(({ name }) => name)).size === views.length,
        'expected each name once',
      )
      .readonly()
      .optional(),
    /** Columns that are not shown, by table; all of them. */
    hidden_columns: z.strictObject({ requests: columns, keys: columns }).optional(),
  }),
  response: session,
  example: sessionExample,
});

export const changePassword = defineRoute({
  method: 'POST',
  path: '/me/password',
  summary: 'Set another password; every other session ends',
  permission: 'own',
  callers: 'people',
  body: z.strictObject({
    old_password: z.string('expected a password').min(1, 'expected a password').max(1_024),
    new_password: newPassword,
  }),
  /** With another token: this session has a new cookie. */
  response: session,
  example: sessionExample,
});

export const listMySessions = defineRoute({
  method: 'GET',
  path: '/me/sessions',
  summary: 'Where the person is signed in',
  permission: 'own',
  callers: 'people',
  response: z.object({
    data: z.array(
      z.object({
        id: z.string(),
        /** Whether it is the one that asks. */
        current: z.boolean(),
        address: z.string().nullable(),
        user_agent: z.string().nullable(),
        created: time,
        /** To within a minute. */
        seen: time,
      }),
    ),
  }),
  example: {
    data: [
      {
        id: '9f86d081884c7d65',
        current: true,
        address: '192.0.2.14',
        user_agent: 'Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0',
        created: '2026-11-25T08:51:00.000Z',
        seen: '2026-11-25T10:00:00.000Z',
      },
    ],
  },
});

export const endMySession = defineRoute({
  method: 'DELETE',
  path: '/me/sessions/:id',
  summary: 'Sign out elsewhere',
  permission: 'own',
  callers: 'people',
  parameters: z.strictObject({ id: text(100) }),
  response: z.object({}),
  example: {},
});
