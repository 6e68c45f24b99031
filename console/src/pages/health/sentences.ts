import type { Result } from '../../api/client.ts';
import type { Say } from '../../words/index.ts';

export type Health = Result<'readHealth'>;

/** A degraded component, what it means, and what to do about it. */
export interface Complaint {
  readonly word: string;
  readonly text: string;
}

const known = [
  'journal',
  'database',
  'database-writes',
  'version',
  'spool',
  'redis',
  'video-looks',
  'lag',
  'memory',
] as const;

/** Beginnings and parts of words that contain names and numbers, each with its explanation. */
const patterns = [
  [/^node .* is unreachable/, 'unreachable'],
  [/^node .* has lost/, 'lost'],
  [/^node .* was silent/, 'silent'],
  [/adopt/, 'adopting'],
  [/^redis evicts/, 'evicts'],
  [/nodes on sqlite/, 'sqlite'],
  [/nodes without redis/, 'withoutRedis'],
  [/^uncaught exception|^unhandled promise/, 'defect'],
] as const;

/** The words of `/ready` as sentences. What has no sentence keeps its own words. */
export function complaintsOf({ degraded }: Health, say: Say): Complaint[] {
  return degraded.map((word) => {
    const name = known.find((each) => each === word);
    if (name !== undefined) return { word, text: say(`health.degraded.${name}`) };
    const pattern = patterns.find(([form]) => form.test(word))?.[1];
    return { word, text: pattern === undefined ? '' : say(`health.degraded.${pattern}`) };
  });
}
