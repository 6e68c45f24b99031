import type { FailureKind } from './failure-kind.ts';

const refusedMs = 60_000;
const longestRefusedMs = 300_000;

/** What is known of one credential of a channel. */
export interface Credential {
  readonly secret: string | null;
  /** Rate-limited until then. */
  coolUntil: number;
  /** Refusals in a row; above 0 it is disabled, and after `refusedUntil` one request at a time may try it. */
  refusals: number;
  refusedUntil: number;
  probing: boolean;
}

/** A credential that nothing is known against. */
export function createCredential(secret: string | null): Credential {
  return { secret, coolUntil: 0, refusals: 0, refusedUntil: 0, probing: false };
}

/** @returns for how many milliseconds it is not to be used. */
export function refuse(credential: Credential, now: number): number {
  // Of many requests under way at the same time each is refused; that is one refusal.
  if (credential.refusedUntil > now) return credential.refusedUntil - now;
  const span = Math.min(refusedMs * 2 ** credential.refusals, longestRefusedMs);
  credential.refusals += 1;
  credential.refusedUntil = now + span;
  return span;
}

/** An upstream took it: what was refused before is forgotten. */
export function accept(credential: Credential): void {
  credential.refusals = 0;
  credential.refusedUntil = 0;
}

/** Good, as far as is known, and not cooling down. */
export function isUsable(credential: Credential, now: number): boolean {
  return credential.coolUntil <= now && credential.refusals === 0;
}

/** It was refused, its time is over, and nobody is trying it. */
export function isProbeDue(credential: Credential, now: number): boolean {
  return (
    credential.refusals > 0 &&
    !credential.probing &&
    credential.refusedUntil <= now &&
    credential.coolUntil <= now
  );
}

/** Milliseconds until it may be used or tried again. */
function waitOf(credential: Credential, now: number): number {
  return Math.max(0, credential.coolUntil - now, credential.refusedUntil - now);
}

/** Milliseconds until the first of them may be used or tried again. */
export function shortestWaitOf(credentials: readonly Credential[], now: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const credential of credentials) shortest = Math.min(shortest, waitOf(credential, now));
  return shortest;
}

/**
 * The next credential in turn, from `start` on. One that had been refused is tried again when another channel could
 * answer in its place, or when there is nothing better.
 * @returns its index, or -1.
 */
export function chooseCredential(
  credentials: readonly Credential[],
  start: number,
  mayProbe: boolean,
  now: number,
): number {
  const count = credentials.length;
  let due = -1;
  let usable = -1;
  for (let step = 0; step < count; step += 1) {
    const index = (start + step) % count;
    const credential = credentials[index]!;
    if (usable === -1 && isUsable(credential, now)) {
      usable = index;
    } else if (due === -1 && isProbeDue(credential, now)) {
      due = index;
    }
  }
  return due !== -1 && (mayProbe || usable === -1) ? due : usable;
}

/** Why none of them can be used: what holds up the one that is free first. */
export function kindOfWait(credentials: readonly Credential[], now: number): FailureKind {
  let shortest = Number.POSITIVE_INFINITY;
  let kind: FailureKind = 'abnormal';
  for (const credential of credentials) {
    const wait = waitOf(credential, now);
    if (wait >= shortest) continue;
    shortest = wait;
    kind = credential.refusals > 0 ? 'abnormal' : 'rate-limited';
  }
  return kind;
}
