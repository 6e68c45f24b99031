import type { Stats } from 'node:fs';

type Access = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/** The user of this process; null on Windows, where access follows other rules and all of this says nothing. */
export const ownUser: number | null = process.getuid?.() ?? null;

/** What belongs to root is as safe as the machine; a volume that was mounted for this process does. */
export function isTrustedOwner({ uid }: Access): boolean {
  return uid === ownUser || uid === 0;
}

/** Somebody but the owner may write there. */
export function isOthersWritable({ mode }: Access): boolean {
  return (mode & 0o022) !== 0;
}

/** Somebody but the owner may do anything there. */
export function isOpenToOthers({ mode }: Access): boolean {
  return (mode & 0o077) !== 0;
}

/**
 * Group access that a mount gave to this process, as Kubernetes does for `fsGroup`: the folder belongs to root or has the
 * setgid bit, and its group is one of ours. The process cannot take it back, and needs it. Never if everybody may write.
 */
export function isGroupMounted({ mode, uid, gid }: Access): boolean {
  if ((mode & 0o002) !== 0 || ownUser === null) return false;
  const byMount = (mode & 0o2000) !== 0 || uid !== ownUser;
  return byMount && (process.getgid?.() === gid || (process.getgroups?.() ?? []).includes(gid));
}
