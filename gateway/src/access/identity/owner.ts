import type { Caller } from './caller.ts';

/** The owner of something that outlives a request: `team:<id>` or `user:<id>`. */
export type Owner = `team:${string}` | `user:${string}`;

/**
 * The team that the key acts for, otherwise its user. A rotated or second key of the same owner shares what the first
 * one left; nobody else does.
 */
export function ownerOf({ teamId, userId }: Pick<Caller, 'teamId' | 'userId'>): Owner {
  return teamId === null ? `user:${userId}` : `team:${teamId}`;
}
