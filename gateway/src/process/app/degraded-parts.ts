import type { Spool } from '#bodies/index.ts';
import type { Money, Rates } from '#limits/index.ts';
import { formatUsd, type RevisionWatch } from '#database/index.ts';
import type { NodeRegistry } from '#nodes/index.ts';
import type { UncaughtErrors } from '#observability/index.ts';
import type { Tasks } from '#tasks/index.ts';
import type { Storage } from './storage.ts';

export interface HealthSources extends Pick<
  Storage,
  'database' | 'nodes' | 'adoption' | 'journal'
> {
  readonly revisions: RevisionWatch;
  readonly money: Pick<Money, 'isAway' | 'unleasedAmount'>;
  readonly rates: Pick<Rates, 'degraded'>;
  readonly uncaught: UncaughtErrors;
  readonly spool: Pick<Spool, 'problem'>;
  readonly tasks: () => Pick<Tasks['readings'], 'isLagging'>;
  /** The overload of this process: `lag`, `memory`. */
  readonly pressures: () => readonly string[];
}

/** The degraded components of this process, in words. */
export function degradedParts(sources: HealthSources): readonly string[] {
  const { nodes, adoption, journal, rates, uncaught } = sources;
  return [
    ...(journal.usable ? [] : ['journal']),
    ...(sources.spool.problem() === null ? [] : ['spool']),
    ...degradedDatabase(sources),
    ...unleased(sources.money),
    ...degradedNodes(nodes, sources.database.dialect === 'sqlite'),
    ...rates.degraded,
    ...(sources.tasks().isLagging ? ['video-looks'] : []),
    ...sources.pressures(),
    ...adoption.problems,
    ...(uncaught.exceptions > 0 ? ['uncaught exception: shutting down'] : []),
    ...(uncaught.rejections > 0 ? ['unhandled promise rejection'] : []),
  ];
}

/**
 * A database that cannot be read takes no writes either, so only the first is reported. A lock or a full disk may stop
 * leases or records although heartbeats are written.
 */
function degradedDatabase({ revisions, nodes, money, journal }: HealthSources): string[] {
  if (revisions.problem !== null) return ['database'];
  // It takes nothing of this program.
  if (revisions.isOutdated) return ['version'];
  const takesWrites = nodes.writes && !money.isAway && !journal.isAway;
  return takesWrites ? [] : ['database-writes'];
}

/** What `billing.database_away` has let through, until the database has it. */
function unleased({ unleasedAmount }: HealthSources['money']): string[] {
  if (unleasedAmount === 0n) return [];
  return [`${formatUsd(unleasedAmount)} USD served without a lease are not in the database yet`];
}

/** Unreachable nodes, and nodes that should not be there. */
function degradedNodes({ missing, lost, freed, live }: NodeRegistry, isSqlite: boolean): string[] {
  const words = missing.map(
    ({ id, journalDepth }) =>
      `node ${id} is unreachable with ${journalDepth} usage records in its journal`,
  );
  for (const { node, missing: count } of lost) {
    words.push(`node ${node} has lost ${count} usage records of its journal`);
  }
  for (const { node, amount } of freed) {
    words.push(
      `node ${node} was silent for billing.lease_age: up to ${formatUsd(amount)} USD may be spent twice`,
    );
  }
  // Each node spends the whole of every limit.
  if (live() > 1 && isSqlite) words.push(`${live()} nodes on sqlite: money is not shared`);
  return words;
}
