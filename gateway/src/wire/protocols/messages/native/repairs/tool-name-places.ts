import { isRecord, type JsonRecord } from '../../../values.ts';
import type { Copies } from './copies.ts';

/** `defined` and `called`: the upstream looks at the name itself; `mentioned`: it looks the name up. */
export type NameUse = 'defined' | 'called' | 'mentioned';

/** Another name for each, or the same. */
export type Rename = (name: string, use: NameUse) => string;

/** Where blocks hold others that may name tools. */
const inner: Readonly<Record<string, string>> = Object.freeze({
  tool_result: 'content',
  tool_search_tool_result: 'content',
  tool_search_tool_search_result: 'tool_references',
  tool_addition: 'tool',
  tool_removal: 'tool',
  compaction: 'tool_changes',
});

/**
 * A block of a request or of an answer with other names of the client's own tools; the block itself when there are
 * none. What a tool server or the vendor calls its tools is theirs.
 */
export function renameInBlock(copies: Copies, block: JsonRecord, rename: Rename): JsonRecord {
  const { type } = block;
  switch (type) {
    case 'tool_use':
      // The members of a set are the vendor's.
      return block['toolset_name'] == null
        ? renameMember(copies, block, 'name', 'called', rename)
        : block;
    case 'tool_reference': {
      const member = typeof block['tool_name'] === 'string' ? 'tool_name' : 'name';
      return renameMember(copies, block, member, 'mentioned', rename);
    }
    case 'tool_definition': {
      const { definition } = block;
      if (!isRecord(definition)) return block;
      const next = renameTool(copies, definition, rename);
      return next === definition ? block : copies.change(block, { definition: next });
    }
    default: {
      const member =
        typeof type === 'string' && Object.hasOwn(inner, type) ? inner[type] : undefined;
      if (member === undefined) return block;
      const value = block[member];
      const next = isRecord(value)
        ? renameInBlock(copies, value, rename)
        : renameInBlocks(copies, value, rename);
      return next === value ? block : copies.change(block, { [member]: next });
    }
  }
}

/** Of a list of blocks; anything else as it is. */
export function renameInBlocks(copies: Copies, blocks: unknown, rename: Rename): unknown {
  if (!Array.isArray(blocks)) return blocks;
  return copies.mapList(blocks as unknown[], (block) =>
    isRecord(block) ? renameInBlock(copies, block, rename) : block,
  );
}

/** A definition. Tools of other types than the client's own have the names that their types give them. */
export function renameTool(copies: Copies, tool: JsonRecord, rename: Rename): JsonRecord {
  return isOwnTool(tool) ? renameMember(copies, tool, 'name', 'defined', rename) : tool;
}

/** One that the client brings, with a schema of its own. */
export function isOwnTool({ type }: JsonRecord): boolean {
  return type === undefined || type === null || type === 'custom';
}

export function renameMember(
  copies: Copies,
  holder: JsonRecord,
  member: string,
  use: NameUse,
  rename: Rename,
): JsonRecord {
  const name = holder[member];
  if (typeof name !== 'string') return holder;
  const next = rename(name, use);
  return next === name ? holder : copies.change(holder, { [member]: next });
}
