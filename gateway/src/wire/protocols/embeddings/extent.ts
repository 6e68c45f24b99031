/** How much there is to embed, as far as the request itself shows. */
export interface EmbeddingsExtent {
  /** The number of items (texts, token lists, objects), each of which gets a vector. At least 1. */
  readonly items: number;
  /** The number of tokens if every item is a list of tokens; null if a text must be tokenized first. */
  readonly tokens: number | null;
  /** An item is neither a text nor a list of tokens, so the bytes of the body do not bound its tokens. */
  readonly unseen: boolean;
}

/**
 * How much the `input` of a request is: a text, a list of texts, a list of tokens, or a list of token lists. Other shapes
 * pass: some servers embed objects that name an image, and each server refuses what it cannot read.
 */
export function readExtent(input: unknown): EmbeddingsExtent {
  if (!Array.isArray(input)) return { items: 1, tokens: null, unseen: typeof input !== 'string' };
  const list: readonly unknown[] = input;
  if (isTokenList(list)) return { items: 1, tokens: list.length, unseen: false };
  let tokens = 0;
  let tokenLists = 0;
  let texts = 0;
  for (const item of list) {
    if (typeof item === 'string') texts += 1;
    else if (isTokenList(item)) {
      tokenLists += 1;
      tokens += item.length;
    }
  }
  const items = list.length;
  return {
    items: Math.max(1, items),
    tokens: items > 0 && tokenLists === items ? tokens : null,
    unseen: texts + tokenLists < items,
  };
}

function isTokenList(value: unknown): value is readonly number[] {
  return (
    Array.isArray(value) && value.length > 0 && value.every((token) => typeof token === 'number')
  );
}
