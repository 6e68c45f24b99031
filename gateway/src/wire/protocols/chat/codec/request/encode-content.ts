import type { Block } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { encodePart } from './encode-parts.ts';
import type { EncodeContext } from './encode-context.ts';
import { memberName } from './message-members.ts';

/** A list of parts, or a single string for a single text, which every server accepts. */
export function contentOf(parts: readonly JsonRecord[]): string | readonly JsonRecord[] {
  const [first] = parts;
  if (first === undefined) return '';
  const isPlain = parts.length === 1 && first['type'] === 'text' && Object.keys(first).length === 2;
  return isPlain ? String(first['text']) : parts;
}

/** @throws Unconvertible */
export function encodeParts(blocks: readonly Block[], context: EncodeContext): JsonRecord[] {
  return blocks.map((block) => encodePart(block, context)).filter((part) => part !== null);
}

/** Members of the message that a client of this protocol wrote. */
export function memberValues(blocks: readonly Block[]): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const block of blocks) {
    if (block.type !== 'opaque' || block.protocol !== 'chat') continue;
    const name = memberName(block);
    if (name !== null) members[name] = block.value;
  }
  return members;
}
