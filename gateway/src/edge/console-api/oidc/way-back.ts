import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import type { Secrets } from '#database/index.ts';
import type { Checks } from './provider.ts';

/** Milliseconds within which a person has to come back. */
export const wayBackAge = 600_000;

/**
 * A sign-in under way. The browser keeps it, sealed: nodes need no memory for those that never come back, and any of
 * them can finish it.
 */
export interface WayBack extends Checks {
  /** The path of the page that the person wanted. */
  readonly to: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  /** The person who links an account to an identity, with the id of the session; null: somebody signs in. */
  readonly link: { readonly user: string; readonly session: string } | null;
}

const shape = z.strictObject({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  to: z.string(),
  expiresAt: z.number(),
  link: z.strictObject({ user: z.string(), session: z.string() }).nullable(),
});

const context = 'sign-in at a provider';
const random = () => randomBytes(32).toString('base64url');

/** @param now Unix milliseconds */
export const newWayBack = (to: string, link: WayBack['link'], now: number): WayBack => ({
  state: random(),
  nonce: random(),
  verifier: random(),
  to,
  expiresAt: now + wayBackAge,
  link,
});

export const sealWayBack = (secrets: Secrets, wayBack: WayBack): string =>
  secrets.seal(JSON.stringify(wayBack), context);

/** The sign-in that a browser brings back; null: it is not from here, was altered, or is too old. */
export function openWayBack(secrets: Secrets, sealed: string, now: number): WayBack | null {
  let text: string;
  try {
    text = secrets.open(sealed, context);
  } catch {
    return null;
  }
  const wayBack = shape.parse(JSON.parse(text));
  return wayBack.expiresAt > now ? wayBack : null;
}
