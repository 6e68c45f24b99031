import { readFileSync } from 'node:fs';

/** How often the processes of a starter are looked at. */
const lookMs = 500;

interface Link {
  readonly pid: number;
  /** Who its parent was. An orphan gets another one, on every system but Windows. */
  readonly parent: number;
}

/**
 * Calls the listener once when the program that started this process is gone: npm, npx, or a Node that was too old.
 * Whatever ends them need not arrive here: a signal ends npm alone, or its shell alone, and the gateway would stay
 * behind and hold its port. A process that was started in another way, or that `setsid` took out of npm's session, has
 * no such program: the listener is never called.
 */
export function onStarterEnded(listener: () => void): void {
  const links = linksToStarter();
  if (links.length === 0) return;
  const timer = setInterval(() => {
    if (links.every(({ pid, parent }) => parentOf(pid) === parent)) return;
    clearInterval(timer);
    listener();
  }, lookMs);
  timer.unref();
}

/** This process, then the shells and scripts between it and the starter. */
function linksToStarter(): Link[] {
  const { env, pid, ppid } = process;
  if (env['npm_lifecycle_event'] === undefined && env['SLUICE_PARENT'] === undefined) return [];
  const links = [{ pid, parent: ppid }];
  // What npm runs has its variables, npm itself has not. Elsewhere than on Linux only the parent is known.
  for (let below = factsOf(pid); below !== null;) {
    const above = factsOf(below.parent);
    if (above?.session !== below.session) return [];
    if (!above.isRunByNpm) break;
    links.push({ pid: below.parent, parent: above.parent });
    below = above;
  }
  return links;
}

function parentOf(pid: number): number | undefined {
  return pid === process.pid ? process.ppid : factsOf(pid)?.parent;
}

interface ProcessFacts {
  readonly parent: number;
  readonly session: number;
  readonly isRunByNpm: boolean;
}

/** As Linux reports them; null if the process has ended, belongs to somebody else, or this is another system. */
function factsOf(pid: number): ProcessFacts | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The name before may contain anything, parentheses and spaces too.
    const [, parent, , session] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const isRunByNpm = `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(
      '\0npm_lifecycle_event=',
    );
    return { parent: Number(parent), session: Number(session), isRunByNpm };
  } catch {
    return null;
  }
}
