import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import type { Copies } from './draft.ts';

/** The upstream validates a `defined` or `called` name itself. It looks a `mentioned` name up. */
export type NameUse = 'defined' | 'called' | 'mentioned';

/** Returns another name, or the same. */
export type Rename = (name: string, use: NameUse) => string;

/** Members with nested blocks that may name tools. */
const inner: Readonly<Record<string, string>> = Object.freeze({
  tool_result: 'content',
  tool_search_tool_result: 'content',
  tool_search_tool_search_result: 'tool_references',
  tool_addition: 'tool',
  tool_removal: 'tool',
  compaction: 'tool_changes',
});

/**
 * Renames the client's own tools in a block of a request or of a response. Returns the same block if it names none. Tool
 * servers and the vendor choose the names of their own tools.
 */
export function renameInBlock(copies: Copies, block: JsonRecord, rename: Rename): JsonRecord {
  const { type } = block;
  switch (type) {
    case 'tool_use':
      // The vendor names the members of a set.
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

/** Renames in a list of blocks. Returns anything else unchanged. */
export function renameInBlocks(copies: Copies, blocks: unknown, rename: Rename): unknown {
  if (!Array.isArray(blocks)) return blocks;
  return copies.mapList(blocks as unknown[], (block) =>
    isRecord(block) ? renameInBlock(copies, block, rename) : block,
  );
}

/** Renames a definition. Tools of other types than the client's own have fixed names. */
export function renameTool(copies: Copies, tool: JsonRecord, rename: Rename): JsonRecord {
  return isOwnTool(tool) ? renameMember(copies, tool, 'name', 'defined', rename) : tool;
}

/** Whether the client defines the tool, with its own schema. */
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
