/** What is known of the way to the gateway. */
export interface Link {
  /** Since when it, or its database, has not answered. Unix milliseconds; null: both do. */
  readonly lostSince: number | null;
  readonly lost: LostPart | null;
  /** Whether it no longer knows who is signed in. */
  readonly isSessionOver: boolean;
}

/** Without its database a gateway serves models, but no pages. */
export type LostPart = 'gateway' | 'database';

let link: Link = { lostSince: null, lost: null, isSessionOver: false };
let isLooking = false;
const listeners = new Set<() => void>();

export const currentLink = (): Link => link;

export function subscribeLink(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: Partial<Link>): void {
  const changed = { ...link, ...next };
  if (changed.lost === link.lost && changed.isSessionOver === link.isSessionOver) return;
  link = changed;
  for (const listener of listeners) listener();
}

const lose = (lost: LostPart) => change({ lost, lostSince: link.lostSince ?? Date.now() });

export const linkLost = () => lose('gateway');
export const linkBack = () => change({ lost: null, lostSince: null });
export const sessionOver = () => change({ isSessionOver: true });
export const sessionRenewed = () => change({ isSessionOver: false });

/** The gateway has answered, whatever it said. */
export function gatewayAnswered(): void {
  if (link.lost === 'gateway') linkBack();
}

/** A page could not be read. That may be its own fault: whoever is signed in can be read with little. */
export async function databaseFailed(): Promise<void> {
  if (isLooking || link.lost === 'database') return;
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
