import type { Block, TextBlock, Turn } from '#canonical/index.ts';
import type { JsonRecord } from '../../../shared/values.ts';
import { decodePart, ownCall, ownResult } from './decode-part.ts';
import { joinPartialCalls, ranByProvider } from './model-parts.ts';
import { invalid, member, readRecords } from '../../fields.ts';
import { joinBlock } from '../parts.ts';

/** Older clients use `function` for turns with tool results. */
const roles: ReadonlyMap<unknown, Turn['role']> = new Map([
  ['user', 'user'],
  ['model', 'assistant'],
  ['function', 'user'],
]);

/** @throws GatewayError `invalid_value` with `param` `contents.N.…`. */
export function decodeContents(contents: unknown): readonly Turn[] {
  return readRecords(contents, 'contents').map((content, index) =>
    decodeContent(content, `contents.${index}`),
  );
}

function decodeContent(content: JsonRecord, param: string): Turn {
  const role = roles.get(member(content, 'role') ?? 'user');
  if (role === undefined) throw invalid(`${param}.role`, 'must be user or model');
  const blocks: Block[] = [];
  const written = readRecords(member(content, 'parts'), `${param}.parts`);
  const parts = role === 'assistant' ? joinPartialCalls(written) : written;
  const run = role === 'assistant' ? ranByProvider(parts) : null;
  parts.forEach((part, index) => {
    const where = `${param}.parts.${index}`;
    const block = run?.has(part) === true ? ownCall(part) : decodePart(part, where);
    if (block === null) return;
    if (block.type === 'tool-call' && role === 'user') {
      throw invalid(`${where}.functionCall`, 'belongs in a content with role model');
    }
    joinBlock(blocks, role === 'user' ? asSaid(block) : ownResult(block, part));
  });
  return { role, blocks };
}

/** Only the model has reasoning and signatures. A user's reasoning is text. */
function asSaid(block: Block): Block {
  return block.type === 'reasoning' ? { type: 'text', text: block.text } : block;
}

/** Reads a text, a content, or a list of parts. @throws GatewayError `invalid_value` for anything but text. */
export function decodeSystem(instruction: unknown): readonly TextBlock[] {
  if (instruction === undefined) return [];
  if (typeof instruction === 'string') return [{ type: 'text', text: instruction }];
  const entries = readRecords(instruction, 'systemInstruction');
  return entries.flatMap((entry) => {
    const parts = member(entry, 'parts');
    return readRecords(parts ?? entry, 'systemInstruction.parts').map((part, index) => {
      const param = `systemInstruction.parts.${index}`;
      const block = decodePart(part, param);
      if (block?.type === 'text') return block;
      throw invalid(param, 'must be a text');
    });
  });
}
