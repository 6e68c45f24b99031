import type { Say } from '../../words/index.ts';

/** The first that occurs: most browsers also call themselves by the names of older ones. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const;
const systems = [
  ['iPhone', 'iPhone'],
  ['iPad', 'iPad'],
  ['Android', 'Android'],
  ['Windows', 'Windows'],
  ['Mac OS X', 'macOS'],
  ['Linux', 'Linux'],
] as const;

/** The browser behind a user agent in words: `Firefox, Linux`. */
export function agentName(agent: string | null, say: Say): string {
  if (agent === null) return say('settings.unknown');
  const nameIn = (names: readonly (readonly [string, string])[]) =>
    names.find(([mark]) => agent.includes(mark))?.[1];
  const words = [nameIn(browsers), nameIn(systems)].filter((word) => word !== undefined);
  return words.length > 0 ? words.join(', ') : agent.slice(0, 40);
}
