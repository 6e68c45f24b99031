import type { Caller } from './caller.ts';

/** Whether the key is usable at this time (Unix milliseconds): enabled and not expired. */
export function isUsable(caller: Caller, now: number): boolean {
  return caller.enabled && (caller.expiresAt === null || now < caller.expiresAt);
}
