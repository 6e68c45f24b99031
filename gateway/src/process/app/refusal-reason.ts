import type { RevisionWatch } from '#database/index.ts';
import type { Money } from '#limits/index.ts';
import type { Storage } from './storage.ts';

export interface RefusalSources {
  readonly journal: Pick<Storage['journal'], 'usable'>;
  readonly nodes: Pick<Storage['nodes'], 'writes'>;
  readonly revisions: Pick<RevisionWatch, 'problem' | 'isOutdated'>;
  readonly money: Pick<Money, 'isAway' | 'hasFailed' | 'hasLeases'>;
}

/**
 * Why this process can admit nothing that costs something, but for overload; null: it can. `version`: the database needs
 * a newer program. `leases`: the database gives none, and what is left of them pays for no payer's next request.
 */
export function refusalReason(sources: RefusalSources): 'version' | 'journal' | 'leases' | null {
  const { journal, nodes, revisions, money } = sources;
  if (revisions.isOutdated) return 'version';
  if (!journal.usable) return 'journal';
  // Without requests nothing is leased: after a failure, signs of life show whether the database takes writes.
  const cannotLease =
    revisions.problem !== null || money.isAway || (money.hasFailed && !nodes.writes);
  return cannotLease && !money.hasLeases ? 'leases' : null;
}
