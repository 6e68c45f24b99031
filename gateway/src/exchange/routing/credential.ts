const refusedMs = 60_000;
const longestRefusedMs = 300_000;

/** What is known about one credential of a channel. */
export interface Credential {
  readonly secret: string | null;
  /** The credential is rate-limited until then. */
  coolUntil: number;
  /**
   * Consecutive refusals. Above 0 the credential is disabled; after `refusedUntil` one request at a time may probe it.
   */
  refusals: number;
  refusedUntil: number;
  probing: boolean;
}

/** A credential with a clean state. */
export function createCredential(secret: string | null): Credential {
  return { secret, coolUntil: 0, refusals: 0, refusedUntil: 0, probing: false };
}

/** @returns how many milliseconds the credential must not be used */
export function refuse(credential: Credential, now: number): number {
  // Concurrent requests are all refused together; that counts as one refusal.
  if (credential.refusedUntil > now) return credential.refusedUntil - now;
  const span = Math.min(refusedMs * 2 ** credential.refusals, longestRefusedMs);
  credential.refusals += 1;
  credential.refusedUntil = now + span;
  return span;
}

/** The upstream accepted the credential: earlier refusals are forgotten. */
export function accept(credential: Credential): void {
  credential.refusals = 0;
  credential.refusedUntil = 0;
}

/** Whether it is neither refused nor cooling down. */
export function isUsable(credential: Credential, now: number): boolean {
  return credential.coolUntil <= now && credential.refusals === 0;
}

/** Whether it was refused, the time-out has passed, and no probe is in flight. */
export function isProbeDue(credential: Credential, now: number): boolean {
  return (
    credential.refusals > 0 &&
    !credential.probing &&
    credential.refusedUntil <= now &&
    credential.coolUntil <= now
  );
}

/** Milliseconds until it may be used or probed again. */
function waitOf(credential: Credential, now: number): number {
  return Math.max(0, credential.coolUntil - now, credential.refusedUntil - now);
}

/** Milliseconds until the first of them may be used or probed again. */
export function shortestWaitOf(credentials: readonly Credential[], now: number): number {
  let shortest = Number.POSITIVE_INFINITY;
  for (const credential of credentials) shortest = Math.min(shortest, waitOf(credential, now));
  return shortest;
}

/**
 * Chooses the next credential in turn, starting at `start`. A refused one is probed if another channel could respond
 * instead, or if there is nothing better.
 * @returns its index, or -1
 */
export function chooseCredential(
  credentials: readonly Credential[],
  start: number,
  mayProbe: boolean,
  now: number,
): number {
  const count = credentials.length;
  let dueIndex = -1;
  let usableIndex = -1;
  for (let step = 0; step < count; step += 1) {
    const index = (start + step) % count;
    const credential = credentials[index]!;
    if (usableIndex === -1 && isUsable(credential, now)) {
      usableIndex = index;
    } else if (dueIndex === -1 && isProbeDue(credential, now)) {
      dueIndex = index;
    }
  }
  return dueIndex !== -1 && (mayProbe || usableIndex === -1) ? dueIndex : usableIndex;
}

/** Why none of them is usable: what delays the one that is free first. */
export function kindOfWait(
  credentials: readonly Credential[],
  now: number,
): 'credential-refused' | 'rate-limited' {
  let shortest = Number.POSITIVE_INFINITY;
  let kind: ReturnType<typeof kindOfWait> = 'credential-refused';
  for (const credential of credentials) {
    const wait = waitOf(credential, now);
    if (wait >= shortest) continue;
    shortest = wait;
    kind = credential.refusals > 0 ? 'credential-refused' : 'rate-limited';
  }
  return kind;
}
