import { isToolName, planToolNames, type UnnamedTool } from '../../../shared/tools/tool-names.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { Copies, type Draft } from './draft.ts';
import type { ModelFacts } from './model-facts.ts';

/**
 * Replaces names that the upstream refuses, wherever the request names the client's own tools. The response gets the
 * client's names back. Texts that mention a tool stay unchanged.
 */
export function renameTools(draft: Draft): boolean {
  const clientNames = namesGiven(draft);
  if (clientNames.size === 0) return false;
  const rename: Rename = (name) => clientNames.get(name) ?? name;
  for (const [member, next] of Object.entries(renamedMembers(draft, draft.root, rename))) {
    if (next !== draft.root[member]) draft.set(member, next);
  }
  draft.toolNames = new Map([...clientNames].map(([own, upstream]) => [upstream, own]));
  return true;
}

/** The new names of refused names only. */
function namesGiven(draft: Draft): ReadonlyMap<string, string> {
  const { root, context } = draft;
  const rule = context.model.toolNames;
  const foundTools: UnnamedTool[] = [];
  const note = (name: string, use: NameUse): string => {
    if (use !== 'mentioned') foundTools.push({ key: name, name, isOwn: true });
    return name;
  };
  renamedMembers(new Copies(), root, note);
  if (foundTools.every(({ name }) => isToolName(name, rule))) return new Map();
  for (const tool of asList(root['tools'])) {
    if (!isRecord(tool) || isOwnTool(tool)) continue;
    const { name } = tool;
    // Fixed names of other tools are not free.
    if (typeof name === 'string' && isToolName(name, rule)) note(name, 'defined');
  }
  const names = planToolNames(foundTools, rule);
  return new Map([...names].filter(([own, upstream]) => own !== upstream));
}

/** Renames in all members of a request that name tools. */
function renamedMembers(copies: Copies, root: JsonRecord, rename: Rename): JsonRecord {
  const { tools, tool_choice: choice, messages, context_management: management } = root;
  return {
    tools: mapRecords(copies, tools, (tool) => renameTool(copies, tool, rename)),
    tool_choice: isRecord(choice)
      ? renameMember(copies, choice, 'name', 'mentioned', rename)
      : choice,
    messages: mapRecords(copies, messages, (message) =>
      changed(copies, message, 'content', renameInBlocks(copies, message['content'], rename)),
    ),
    context_management: isRecord(management)
      ? changed(
          copies,
          management,
          'edits',
          mapRecords(copies, management['edits'], (edit) => renameInEdit(copies, edit, rename)),
        )
      : management,
  };
}

/** Renames in the rules for clearing long conversations, which include or exclude tools. */
function renameInEdit(copies: Copies, edit: JsonRecord, rename: Rename): JsonRecord {
  let next = edit;
  for (const member of ['exclude_tools', 'clear_tool_inputs']) {
    const names = edit[member];
    if (!Array.isArray(names)) continue;
    const renamed = copies.mapList(names as unknown[], (name) =>
      typeof name === 'string' ? rename(name, 'mentioned') : name,
    );
    next = changed(copies, next, member, renamed);
  }
  return next;
}

function mapRecords(
  copies: Copies,
  list: unknown,
  replace: (record: JsonRecord) => JsonRecord,
): unknown {
  if (!Array.isArray(list)) return list;
  return copies.mapList(list as unknown[], (each) => (isRecord(each) ? replace(each) : each));
}

function changed(copies: Copies, holder: JsonRecord, member: string, value: unknown): JsonRecord {
  return holder[member] === value ? holder : copies.change(holder, { [member]: value });
}

function asList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Renames tools that the conversation defines, rather than the request. */
export function namesDefinedLater({ messages }: JsonRecord): ReadonlySet<string> {
  const names = new Set<string>();
  renamedMembers(new Copies(), { messages }, (name, use) => {
    if (use === 'defined') names.add(name);
    return name;
  });
  return names;
}

/** Whether a block defines or calls a tool under a name that the upstream refuses. */
export function namesBadly(block: JsonRecord, { toolNames }: ModelFacts): boolean {
  let isBad = false;
  renameInBlock(new Copies(), block, (name, use) => {
    if (use !== 'mentioned' && !isToolName(name, toolNames)) isBad = true;
    return name;
  });
  return isBad;
}

/** The upstream validates a `defined` or `called` name itself. It looks a `mentioned` name up. */
type NameUse = 'defined' | 'called' | 'mentioned';

/** Returns another name, or the same. */
type Rename = (name: string, use: NameUse) => string;

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
function renameTool(copies: Copies, tool: JsonRecord, rename: Rename): JsonRecord {
  return isOwnTool(tool) ? renameMember(copies, tool, 'name', 'defined', rename) : tool;
}

/** Whether the client defines the tool, with its own schema. */
export function isOwnTool({ type }: JsonRecord): boolean {
  return type === undefined || type === null || type === 'custom';
}

function renameMember(
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
