import { GatewayError } from '#errors/index.ts';
import { drawJson } from '#json/index.ts';
import { isRecord } from '../../../shared/values.ts';
import { Verbatim } from './edits.ts';
import { toWellFormed } from './spelling.ts';
import { type Block, blocksIn, type Draft, isBlock, type RepairContext } from './draft.ts';

/** Wraps a call's arguments in an object, which upstreams require. */
export function wrapInputs(draft: Draft): boolean {
  return draft.mapBlocks((block) => {
    if (block.type !== 'tool_use' || isRecord(block['input'])) return block;
    return draft.change(block, { input: asObject(block['input'], draft.context) });
  });
}

/** @throws GatewayError `too_complex` */
function asObject(input: unknown, { budget }: RepairContext): unknown {
  if (input === undefined || input === null) return {};
  if (typeof input !== 'string') return { value: input };
  if (input.trim() === '') return {};
  if (!drawJson(Buffer.from(input), budget)) throw new GatewayError('too_complex');
  let read: unknown;
  try {
    read = JSON.parse(input);
  } catch {
    return { value: input };
  }
  if (read === null) return {};
  const writtenInput = toWellFormed(read) === read ? new Verbatim(input) : toWellFormed(read);
  return isRecord(read) ? writtenInput : { value: writtenInput };
}

/** Turns a result that is neither text nor blocks into its JSON. */
export function writeResults(draft: Draft): boolean {
  return draft.mapBlocks((block) => {
    if (block.type !== 'tool_result' || isResultContent(block['content'])) return block;
    return draft.change(block, { content: JSON.stringify(block['content']) });
  });
}

export function isResultContent(content: unknown): boolean {
  if (content === undefined || content === null || typeof content === 'string') return true;
  return blocksIn(content) !== null;
}

export function isCall(block: unknown): block is Block & { readonly id: string } {
  return isBlock(block) && block.type === 'tool_use' && typeof block['id'] === 'string';
}

export function isResult(block: Block): boolean {
  return block.type === 'tool_result';
}
