import { userInfo } from 'node:os';

/** The user of the machine that this process runs as; null where the machine has no name for it, as in containers. */
export function processUser(): string | null {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
}
