import { z } from 'zod';
import { defineRoute } from './route.ts';
import { code, proof, text, time } from './values.ts';

export const readSecondFactor = defineRoute({
  method: 'GET',
  path: '/me/totp',
  summary: 'Whether the own account has a second factor',
  permission: 'own',
  callers: 'people',
  response: z.object({
    enabled: z.boolean(),
    /** Null: there is none. */
    since: time.nullable(),
    /** Recovery codes that were not used yet. */
    recovery_codes: z.int(),
    /** Whether the person has a password, which a second factor is added to. */
    has_password: z.boolean(),
    /** Whether the account is connected to the provider. */
    connected: z.boolean(),
  }),
  example: {
    enabled: true,
    since: '2026-11-25T10:00:00.000Z',
    recovery_codes: 9,
    has_password: true,
    connected: false,
  },
});

export const beginSecondFactor = defineRoute({
  method: 'POST',
  path: '/me/totp',
  status: 201,
  summary:
    'Begin a second factor by time (RFC 6238), which is in force once a code of it is shown; with the password. The response is the only one with its secret',
  permission: 'own',
  callers: 'people',
  body: proof,
  response: z.object({
    /** In base32. */
    secret: z.string(),
    /** What an authenticator app reads from a picture. */
    uri: z.string(),
  }),
  example: {
    secret: 'JBSWY3DPEHPK3PXP…',
    uri: 'otpauth://totp/Sluice%20(ai.example.com):ada%40example.com?secret=JBSWY3DPEHPK3PXP…',
  },
});

export const enableSecondFactor = defineRoute({
  method: 'PUT',
  path: '/me/totp',
  summary:
    'Bring the second factor into force with a code of it. The response is the only one with the recovery codes, each of which replaces a code once',
  permission: 'own',
  callers: 'people',
  body: z.strictObject({ code }),
  response: z.object({ recovery_codes: z.array(z.string()).readonly() }),
  example: { recovery_codes: ['q7xkd-2m4pf', 'ab3nz-wr6ty'] },
});

export const endSecondFactor = defineRoute({
  method: 'DELETE',
  path: '/me/totp',
  summary: 'End the own second factor, with a code, a recovery code or the password',
  permission: 'own',
  callers: 'people',
  body: proof,
  response: z.object({}),
  example: {},
});

export const endSecondFactorOf = defineRoute({
  method: 'DELETE',
  path: '/users/:id/totp',
  summary: 'Take the second factor of a person away, who then signs in with the password alone',
  permission: 'users.write',
  parameters: z.strictObject({ id: text(300) }),
  response: z.object({
    /** False: there was none. */
    ended: z.boolean(),
  }),
  example: { ended: true },
});
