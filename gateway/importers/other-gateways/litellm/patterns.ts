import { bundledAliases, bundledModelsOf } from '#catalogue/bundled.ts';
import type { ProviderName } from '#config/index.ts';
import { matchesPattern } from '#config/pattern.ts';

/** What a channel serves for an entry whose name has a star. */
export interface ServedPattern {
  /** Patterns of names in the catalogue. */
  readonly patterns: readonly string[];
  /** The names that clients of the other gateway use, where they differ from the catalogue's → the catalogue's. */
  readonly aliases: ReadonlyMap<string, string>;
}

/** How the names of a vendor's models begin: a pattern of any name would bring the models of all vendors. */
const families: Partial<Readonly<Record<ProviderName, readonly string[]>>> = {
  openai: ['gpt-', 'chatgpt-', 'o1', 'o3', 'o4', 'text-embedding-'],
  anthropic: ['claude-'],
  gemini: ['gemini-'],
};

/**
 * There, the text in the place of the star is put into the upstream's name: with `openai/*` for `*`, clients call
 * `openai/gpt-5` and the vendor is asked for `gpt-5`. Here, models have the catalogue's names, and others are aliases.
 * Null: no model of the vendor in the bundled catalogue matches.
 */
export function patternOf(
  name: string,
  upstream: string,
  provider: ProviderName,
): ServedPattern | null {
  const [before = '', after, ...more] = upstream.split('*');
  const [nameBefore = '', nameAfter, ...nameMore] = name.split('*');
  const hasOneStarEach = after !== undefined && nameAfter !== undefined;
  if (!hasOneStarEach || more.length + nameMore.length > 0) return null;
  const known = bundledModelsOf(provider).map(({ id }) => id);
  const names = [
    ...known.map((id) => [id, id] as const),
    ...[...bundledAliases].filter(([, id]) => known.includes(id)),
  ].filter(([each]) => matchesPattern(upstream, each));
  const patterns = (families[provider] ?? []).flatMap((family) => {
    if (before.startsWith(family)) return [upstream];
    return family.startsWith(before) ? [`${family}*${after}`] : [];
  });
  const served = patterns.filter((pattern) => known.some((id) => matchesPattern(pattern, id)));
  if (served.length === 0) return null;
  const aliases = names.flatMap(([each, id]): [string, string][] => {
    const middle = each.slice(before.length, each.length - after.length);
    const alias = nameBefore + middle + nameAfter;
    return alias === each ? [] : [[alias, id]];
  });
  return { patterns: served, aliases: new Map(aliases) };
}
