/** What is known of the way to the gateway. */
export interface Link {
  /** Since when it has not answered. Unix milliseconds; null: it answers. */
  readonly lostSince: number | null;
  /** Whether it no longer knows who is signed in. */
  readonly isSessionOver: boolean;
}

let link: Link = { lostSince: null, isSessionOver: false };
const listeners = new Set<() => void>();

export const currentLink = (): Link => link;

export function subscribeLink(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

function change(next: Partial<Link>): void {
  const changed = { ...link, ...next };
  if (changed.lostSince === link.lostSince && changed.isSessionOver === link.isSessionOver) return;
  link = changed;
  for (const listener of listeners) listener();
}

export const linkLost = () => change({ lostSince: link.lostSince ?? Date.now() });
export const linkBack = () => change({ lostSince: null });
export const sessionOver = () => change({ isSessionOver: true });
export const sessionRenewed = () => change({ isSessionOver: false });
