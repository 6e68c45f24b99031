import type { Edit } from '#json/index.ts';
import { isRecord, type JsonRecord } from '../../shared/values.ts';
import { Copies } from './repairs/copies.ts';
import { editsBetween } from './repairs/edits.ts';
import { renameInBlock, renameInBlocks } from './repairs/tool-name-places.ts';

/** The client's names, by the upstream's. */
export type ToolNames = ReadonlyMap<string, string>;

/** The edits that restore the client's tool names in a whole message. */
export function echoToolNames(body: Buffer, message: JsonRecord, names: ToolNames): Edit[] {
  const { content } = message;
  const copies = new Copies();
  const next = renameInBlocks(copies, content, (name) => names.get(name) ?? name);
  return edits(body, message, 'content', next, copies);
}

/** The same for the event that begins a block. */
export function echoBlockNames(data: Buffer, event: JsonRecord, names: ToolNames): Edit[] {
  const block = event['content_block'];
  if (!isRecord(block)) return [];
  const copies = new Copies();
  const next = renameInBlock(copies, block, (name) => names.get(name) ?? name);
  return edits(data, event, 'content_block', next, copies);
}

function edits(
  body: Buffer,
  root: JsonRecord,
  member: string,
  next: unknown,
  copies: Copies,
): Edit[] {
  if (next === root[member]) return [];
  return editsBetween(body, root, copies.change(root, { [member]: next }), copies.origins);
}
