import type { ReasoningBlock, RefusalBlock, TextBlock } from '#canonical/index.ts';

/** A text as a part. Null for an empty text, which upstreams refuse unless it carries a signature. */
export function textPart(
  { type, text }: TextBlock | RefusalBlock | ReasoningBlock,
  isSigned: boolean,
): Record<string, unknown> | null {
  if (text === '' && !isSigned) return null;
  return type === 'reasoning' ? { text, thought: true } : { text };
}
