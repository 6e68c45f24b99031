import { isToolName, planToolNames, type UnnamedTool } from '../../../shared/tools/tool-names.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { Copies, type Draft } from './draft.ts';
import type { ModelFacts } from './model-facts.ts';
import {
  isOwnTool,
  type NameUse,
  type Rename,
  renameInBlock,
  renameInBlocks,
  renameMember,
  renameTool,
} from './tool-name-places.ts';

/**
 * Replaces names that the upstream refuses, wherever the request names the client's own tools. The response gets the
 * client's names back. Texts that mention a tool stay unchanged.
 */
export function renameTools(draft: Draft): boolean {
  const given = namesGiven(draft);
  if (given.size === 0) return false;
  const rename: Rename = (name) => given.get(name) ?? name;
  for (const [member, next] of Object.entries(renamedMembers(draft, draft.root, rename))) {
    if (next !== draft.root[member]) draft.set(member, next);
  }
  draft.toolNames = new Map([...given].map(([own, upstream]) => [upstream, own]));
  return true;
}

/** The new names of refused names only. */
function namesGiven(draft: Draft): ReadonlyMap<string, string> {
  const { root, context } = draft;
  const rule = context.model.toolNames;
  const found: UnnamedTool[] = [];
  const note = (name: string, use: NameUse): string => {
    if (use !== 'mentioned') found.push({ key: name, name, isOwn: true });
    return name;
  };
  renamedMembers(new Copies(), root, note);
  if (found.every(({ name }) => isToolName(name, rule))) return new Map();
  for (const tool of asList(root['tools'])) {
    if (!isRecord(tool) || isOwnTool(tool)) continue;
    const { name } = tool;
    // Fixed names of other tools are not free.
    if (typeof name === 'string' && isToolName(name, rule)) note(name, 'defined');
  }
  const names = planToolNames(found, rule);
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
