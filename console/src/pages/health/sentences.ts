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

/** What this node and the other live ones complain of, and nodes of another version. */
export function complaintsOf({ degraded, nodes, version }: Health, say: Say): Complaint[] {
  const others = (nodes ?? []).flatMap(({ current, live, state }) =>
    current || !live || state === null ? [] : [state],
  );
  return [
    ...degraded.map((word) => ({ word, text: sentenceOf(word, say) })),
    ...others.flatMap(({ host, degraded: words, version: other }) => [
      ...words
        .filter((word) => !degraded.includes(word))
        .map((word) => ({ word: `${host}: ${word}`, text: sentenceOf(word, say) })),
      ...(other === version
        ? []
        : [{ word: `${host}: ${other}`, text: say('health.otherVersionHint', { version }) }]),
    ]),
  ];
}

/** A word of `/ready` as a sentence; empty: there is none. */
function sentenceOf(word: string, say: Say): string {
  const name =
    known.find((each) => each === word) ?? patterns.find(([form]) => form.test(word))?.[1];
  return name === undefined ? '' : say(`health.degraded.${name}`);
}
