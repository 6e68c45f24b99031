import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';

/**
 * A quarter of a core that a thread of usual priority wants as well: little enough not to be in its way, and more than
 * recording takes of the work on a request, so that it keeps up on a machine that is never idle.
 */
const niceness = 5;

/**
 * Lets the calling thread step back behind the others of this process: on a machine with one core, work that nobody
 * waits for must not delay what somebody does. Linux gives every thread a priority of its own; elsewhere, and where
 * it is not to be had, nothing happens and nothing is lost but time.
 * @returns whether it was done
 */
export function stepBack(): boolean {
  if (process.platform !== 'linux') return false;
  try {
    // `<process>/task/<thread>`, of the thread that asks.
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, niceness);
    return true;
  } catch {
    return false;
  }
}
