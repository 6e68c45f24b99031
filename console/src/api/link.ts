/** What is known of the way to the gateway. */
export interface Link {
  /** What does not answer, and since when (Unix milliseconds); null: all of it does. */
  readonly lost: { readonly part: LostPart; readonly since: number } | null;
  /** Whether it no longer knows who is signed in. */
  readonly isSessionOver: boolean;
}

/** Without its database a gateway serves models, but no pages. */
export type LostPart = 'gateway' | 'database';

let link: Link = { lost: null, isSessionOver: false };
let isLooking = false;
const listeners = new Set<() => void>();

export const currentLink = (): Link => link;

export function subscribeLink(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: Partial<Link>): void {
  const changed = { ...link, ...next };
  if (changed.lost?.part === link.lost?.part && changed.isSessionOver === link.isSessionOver)
    return;
  link = changed;
  for (const listener of listeners) listener();
}

const lose = (part: LostPart) => change({ lost: { part, since: link.lost?.since ?? Date.now() } });

export const linkLost = () => lose('gateway');
export const linkBack = () => change({ lost: null });
export const sessionOver = () => change({ isSessionOver: true });
export const sessionRenewed = () => change({ isSessionOver: false });

/** The gateway has answered, whatever it said. */
export function gatewayAnswered(): void {
  if (link.lost?.part === 'gateway') linkBack();
}

/** A page could not be read. That may be its own fault: whoever is signed in can be read with little. */
export async function databaseFailed(): Promise<void> {
  if (isLooking || link.lost?.part === 'database') return;
  isLooking = true;
  if ((await look()) === 'database') lose('database');
  isLooking = false;
}

/** What does not answer at this moment; null: all of it does. */
export async function look(): Promise<LostPart | null> {
  try {
    const { status } = await fetch('/admin/v1/session', { cache: 'no-store' });
    return status === 503 ? 'database' : null;
  } catch {
    return 'gateway';
  }
}
