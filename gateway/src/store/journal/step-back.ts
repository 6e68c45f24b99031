import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * Leaves about a quarter of a core if a thread of usual priority wants the core as well: little enough not to disturb
 * it, and more than recording takes of the work on a request, so that recording keeps up on a machine that is never
 * idle.
 */
const niceness = 5;

/**
 * Lowers the priority of the calling thread: on a machine with one core, background work must not delay requests. Linux
 * has a priority per thread; on other systems, or without permission, nothing happens and only time is lost.
 * @returns whether the priority was lowered
 */
export function stepBack(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // `<process>/task/<thread>` of the calling thread.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, niceness);
    return true;
  } catch {
    return false;
  }
}
