import type { Config } from '#config/index.ts';
import type { Counters } from '#limits/index.ts';
import type { RevisionWatch } from '#database/index.ts';
import type { NodeRegistry } from '#nodes/index.ts';
import type { UncaughtErrors } from '#observability/index.ts';
import type { Storage } from './storage.ts';

export interface HealthSources extends Pick<Storage, 'nodes' | 'adoption' | 'journal'> {
  readonly config: Config;
  readonly revisions: RevisionWatch;
  readonly counters: Counters;
  readonly uncaught: UncaughtErrors;
  /** What this process has too much of: `lag`, `memory`. */
  readonly pressures: () => readonly string[];
  /** What the supervisor has to say; absent: there is none. */
  readonly said: (() => readonly string[]) | undefined;
}

/** What works with less than usual, in words, for `/ready`. */
export function degradedParts(sources: HealthSources): readonly string[] {
  const { revisions, nodes, adoption, journal, counters, uncaught } = sources;
  const isShared = sources.config.redis.url !== null;
  return [
    ...(journal.usable ? [] : ['journal']),
    ...degradedDatabase(revisions, nodes),
    ...degradedNodes(nodes, isShared),
    ...(isShared && counters.degraded ? ['redis'] : []),
    ...sources.pressures(),
    ...adoption.problems,
    ...(sources.said?.() ?? []),
    ...(uncaught.exceptions > 0 ? ['uncaught exception: shutting down'] : []),
    ...(uncaught.rejections > 0 ? ['unhandled promise rejection'] : []),
  ];
}

/** One that cannot even be read takes no writes either, which need not be said. */
function degradedDatabase({ problem }: RevisionWatch, { writes }: NodeRegistry): string[] {
  if (problem !== null) return ['database'];
  return writes ? [] : ['database-writes'];
}

/** What the other nodes are missing, or missed by. */
function degradedNodes({ missing, live }: NodeRegistry, isShared: boolean): string[] {
  const words = missing.map(
    ({ id, journalDepth }) => `node ${id} is unreachable with ${journalDepth} usage records in its journal`,
  );
  // Each would allow the whole of every limit.
  if (live() > 1 && !isShared) {
    words.push(`${live()} nodes without redis: limits are not shared`);
  }
  return words;
}
