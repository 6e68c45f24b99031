import type { Stats } from 'node:fs';

type Access = Pick<Stats, 'mode' | 'uid' | 'gid'>;

/** The user of this process; null on Windows, which has no such modes or owners. */
export const ownUser: number | null = process.getuid?.() ?? null;

/** Root is as trustworthy as the machine itself, and owns volumes that were mounted for this process. */
export function isTrustedOwner({ uid }: Access): boolean {
  return uid === ownUser || uid === 0;
}

/** Whether anybody but the owner can write. */
export function isOthersWritable({ mode }: Access): boolean {
  return (mode & 0o022) !== 0;
}

/** Whether anybody but the owner has any access. */
export function isOpenToOthers({ mode }: Access): boolean {
  return (mode & 0o077) !== 0;
}

/**
 * Whether a mount gave this process its access through a group, as Kubernetes does for `fsGroup`: the folder belongs to
 * root or has the setgid bit, and its group is one of ours. The process needs that access and cannot revoke it. False
 * if everybody can write.
 */
export function isGroupMounted({ mode, uid, gid }: Access): boolean {
  if ((mode & 0o002) !== 0 || ownUser === null) return false;
  const byMount = (mode & 0o2000) !== 0 || uid !== ownUser;
  return byMount && (process.getgid?.() === gid || (process.getgroups?.() ?? []).includes(gid));
}
