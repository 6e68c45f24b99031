import type { ReasoningBlock, RefusalBlock, TextBlock } from '#canonical/index.ts';

/** What the model said as a part. Null for an empty text, which is refused unless it carries a signature. */
export function textPart(
  { type, text }: TextBlock | RefusalBlock | ReasoningBlock,
  isSigned: boolean,
): Record<string, unknown> | null {
  if (text === '' && !isSigned) return null;
  return type === 'reasoning' ? { text, thought: true } : { text };
}
