import type { EncodeTarget } from './codec.ts';

/**
 * OpenAI itself: it renamed members that compatible servers know by their old names only, and has some that those
 * refuse.
 */
export function isOpenAi({ provider }: Pick<EncodeTarget, 'provider'>): boolean {
  return provider === 'openai';
}

/**
 * The effort that comes closest to not thinking; null where the model has none, and nothing is all that can be said.
 * By the model's name, as https://platform.openai.com/docs/guides/reasoning lists them: `none` came with GPT-5.1.
 */
export function leastEffort(target: Pick<EncodeTarget, 'provider' | 'model'>): LeastEffort | null {
  const version = versionOf(target);
  if (version === null) return null;
  if (version > 500) return 'none';
  return version === 500 && !/codex|pro|chat/.test(target.model) ? 'minimal' : null;
}

/**
 * Does it take marks of where a prompt cache ends? The vendor has them since GPT-5.6 (`prompt_cache_options` in its
 * reference); models before it find their caches by themselves.
 */
export function takesCacheMarkers(target: Pick<EncodeTarget, 'provider' | 'model'>): boolean {
  return (versionOf(target) ?? 0) >= 506;
}

/** `gpt-5.1` is 501; null for other names and vendors. */
function versionOf(target: Pick<EncodeTarget, 'provider' | 'model'>): number | null {
  const found = isOpenAi(target) ? /^gpt-(\d+)(?:\.(\d+))?/.exec(target.model) : null;
  return found === null ? null : Number(found[1]) * 100 + Number(found[2] ?? 0);
}

export type LeastEffort = 'none' | 'minimal';
