import type { Caller } from './caller.ts';

/** Whom something belongs to that outlives a request: `team:<id>` or `user:<id>`. */
export type Owner = `team:${string}` | `user:${string}`;

/**
 * The team that the key acts for, else its user. A rotated or second key of the same owner shares what the first one
 * left behind; nobody else does.
 */
export function ownerOf({ teamId, userId }: Pick<Caller, 'teamId' | 'userId'>): Owner {
  return teamId === null ? `user:${userId}` : `team:${teamId}`;
}
