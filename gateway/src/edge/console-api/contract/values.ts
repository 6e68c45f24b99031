import { z } from 'zod';
import { apartParts, tokenParts } from '#canonical/index.ts';
import type { ApartUnits } from '#usage/index.ts';

/** No parameter, query or body: anything that is sent is unknown, and refused. */
export const nothing = z.strictObject({});

/** Decimal text in USD. */
export const money = z.string();

/** RFC 3339, in UTC. */
export const time = z.string();

/** What may be spent, and what of it is spent and held by requests under way and tasks. */
export const moneyLimit = z.object({
  limit: money,
  spent: money,
  held: money,
  /** The window in which it may be spent; null: there is none, and nothing comes back. */
  window: z.object({ from: time, to: time }).nullable(),
});

/** Requests of a range of time. */
export const usageSum = z.object({ requests: z.int(), cost: money });

/** Who manages the settings of an entry, and which revision of it is shown. */
export const management = {
  /** `file`, `console` or `system`. */
  owner: z.string(),
  /** Whether the settings may be changed elsewhere than in the file. */
  editable: z.boolean(),
  /** Where the file declares it, with a path such as `users[2]`; null: it does not. */
  declared_in: z.object({ file: z.string(), line: z.int(), path: z.string() }).nullable(),
  /** Grows with every change; for `if-match`. */
  revision: z.int(),
  created: time,
};

/** Text that a database can hold: PostgreSQL takes no NUL, and half a character comes back as another one. */
export const text = (most: number, expected = 'some text') =>
  z
    .string()
    .min(1, `expected ${expected}, got nothing`)
    .max(most, `expected at most ${most} characters`)
    .refine((value) => !value.includes('\0') && value.isWellFormed(), `expected ${expected}`);

/** A password that somebody sets. */
export const newPassword = z
  .string('expected a password')
  .min(12, 'expected at least 12 characters')
  .max(1_024, 'expected at most 1024 characters');

/** What names contain, for lists: `%` and the like stand for themselves. */
export const searchText = text(64).optional();

/** A time with its zone, as Unix milliseconds. */
export const timeFilter = z.iso
  .datetime({ offset: true, error: 'expected a time with its zone such as 2027-01-01T00:00:00Z' })
  .transform((text) => Date.parse(text));

const bounds = { from: timeFilter.optional(), to: timeFilter.optional() };

/** A query for a range of time, with these additional parameters. */
export const ranged = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.strictObject({ ...bounds, ...shape }).refine(
    (query) => {
      const { from, to } = query as { readonly from?: number; readonly to?: number };
      return from === undefined || to === undefined || from <= to;
    },
    { path: ['to'], error: 'expected a time that is not before from' },
  );

/** A whole number in a query. */
export const count = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `expected a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((number) => number >= least && number <= most, {
      error: `expected a whole number from ${least} to ${most}`,
    });

/** What is to blame for a failed attempt; `none`: neither the channel nor its credential or model. */
export const blame = z.enum(['channel', 'credential', 'quota', 'model', 'none']);

export const tokens = z.object({
  /** The uncached part. */
  input: z.int(),
  cache_read: z.int(),
  cache_write: z.int(),
  cache_write_1h: z.int(),
  output: z.int(),
  /** Part of the output. */
  reasoning: z.int(),
});

type ApartName = keyof ApartUnits;

/** Parts of the tokens that are not text. */
const apartUnits = Object.fromEntries(
  apartParts.map((part) => [`${tokenParts[part]}_tokens`, z.int().optional()]),
) as Record<ApartName, z.ZodOptional<z.ZodInt>>;

/** What is not counted in tokens; a name is absent if there is nothing of the kind. */
export const units = z.object({
  images: z.int().optional(),
  layers: z.int().optional(),
  reference_images: z.int().optional(),
  ...apartUnits,
  video_ms: z.int().optional(),
  video_tokens: z.int().optional(),
  resolution: z.string().optional(),
  with_video: z.boolean().optional(),
  task: z.string().optional(),
});

/** Of a second factor. */
export const code = text(40, 'a code');

/** That the owner of the account is there, and not only the session. */
export const proof = z
  .strictObject({
    /** Of the second factor, or one that replaces it. */
    code: code.optional(),
    password: z.string('expected a password').min(1, 'expected a password').max(1_024).optional(),
  })
  .refine((body) => body.code === undefined || body.password === undefined, {
    path: ['code'],
    error: 'expected a code or a password, not both',
  });
