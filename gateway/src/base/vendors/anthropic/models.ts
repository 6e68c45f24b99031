/**
 * Tokens of the shortest prompt that is cached, by model, as
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#cache-limitations lists them; shorter ones are read
 * without a cache, and without an error. The first that matches.
 */
const leastCachedByName: readonly (readonly [RegExp, number])[] = [
  [/mythos-preview|opus-4[-.]7|4[-.]7-opus|3-haiku|3-5-haiku|haiku-3/, 2048],
  [/opus-4[-.][56]|4[-.][56]-opus|haiku-4[-.]5|4[-.]5-haiku/, 4096],
  [/(opus|fable|mythos)-[5-9]/, 512],
];

/** Tokens of the shortest prompt that a model caches. */
export function leastCachedOf(model: string): number {
  const name = model.toLowerCase();
  return leastCachedByName.find(([names]) => names.test(name))?.[1] ?? 1024;
}
