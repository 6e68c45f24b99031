import {
  endSession as endStoredSession,
  keepSessionKey,
  sessionKeyExpiry,
  sessionKeySecret,
  type SessionKeyUse,
} from '#identity/index.ts';
import type { Actor } from './audit.ts';
import { type Administration, perform } from './perform.ts';

/** Milliseconds by which a key's end may lag behind that of its session, so that not every page writes. */
const slack = 300_000;

/** A key of somebody who is signed in, for requests of the console's own pages. */
export interface SessionKey {
  readonly secret: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
}

/**
 * The key of a session; null if the session has ended. It is always the same, is limited and charged as every key, and
 * ends with the session.
 * @param sessionEnd when the session ends if nobody does anything in it
 */
export async function sessionKey(
  administration: Administration,
  actor: Actor,
  use: SessionKeyUse,
  sessionEnd: number,
): Promise<SessionKey | null> {
  const { database, secrets } = administration;
  const secret = sessionKeySecret(secrets, use);
  const keptExpiry = await sessionKeyExpiry(database.kysely, secrets, secret);
  if (keptExpiry !== null && keptExpiry >= sessionEnd - slack)
    return { secret, expiresAt: keptExpiry };
  return perform(administration, actor, async (change) => {
    const isKept = await keepSessionKey(change, use, { secret, expiresAt: sessionEnd });
    return { result: isKept ? { secret, expiresAt: sessionEnd } : null, auditEntries: [] };
  });
}

/** Ends a session of this person, with its keys. False: there is no such session. */
export function endSession(
  administration: Administration,
  actor: Actor,
  {
    id,
    user,
  }: { readonly id: string; readonly user: { readonly id: string; readonly email: string } },
): Promise<boolean> {
  return perform(administration, actor, async (change) => {
    const isEnded = await endStoredSession(change, { id, userId: user.id });
    const subject = { kind: 'session', name: user.email } as const;
    return {
      result: isEnded,
      auditEntries: isEnded ? [{ action: 'end', subject, fields: [] }] : [],
    };
  });
}
