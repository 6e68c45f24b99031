import { trimTrailing, type ProviderName } from '#config/index.ts';
import type { Placeholder } from '#declaration/index.ts';
import { vendorFacts } from '#vendors/index.ts';

/**
 * The URL without parts that a channel's address must not have: credentials, a query, trailing slashes. Null: not an
 * address.
 */
export function plainUrl(
  text: string,
): { readonly url: string; readonly isShortened: boolean } | null {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return null;
  const url = new URL(text);
  const isShortened = url.username + url.password + url.search + url.hash !== '';
  url.username = url.password = url.search = url.hash = '';
  return { url: trimTrailing(url.href, '/'), isShortened };
}

export function hasPath(url: string): boolean {
  return /[^/]/.test(new URL(url).pathname);
}

/**
 * A server with OpenAI's protocol at another address than OpenAI's own is `openai-compatible`. Null: no address is
 * given.
 */
export function providerAt(
  provider: ProviderName,
  address: string | Placeholder | null,
): ProviderName {
  if (provider !== 'openai' || address === null) return provider;
  const own = vendorFacts.openai.baseUrl;
  const isOwn =
    typeof address === 'string' &&
    own !== null &&
    new URL(address).hostname === new URL(own).hostname;
  return isOwn ? 'openai' : 'openai-compatible';
}
