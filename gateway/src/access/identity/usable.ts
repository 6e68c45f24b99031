import type { Caller } from './caller.ts';

/** Whether the key is usable at this time (Unix milliseconds): enabled and not expired. */
export function isUsable(
  { enabled, expiresAt }: Pick<Caller, 'enabled' | 'expiresAt'>,
  now: number,
): boolean {
  return enabled && (expiresAt === null || now < expiresAt);
}
