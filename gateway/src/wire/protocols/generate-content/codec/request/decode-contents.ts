import type { Block, TextBlock, Turn } from '#canonical/index.ts';
import type { JsonRecord } from '../../../values.ts';
import { decodePart, ownResult } from './decode-part.ts';
import { invalid, member, readRecords } from '../../fields.ts';
import { joinBlock } from '../join-parts.ts';

/** `function` is what older clients called the turn with the results of tools. */
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
  const written = member(content, 'role') ?? 'user';
  const role = roles.get(written);
  if (role === undefined) throw invalid(`${param}.role`, 'must be user or model');
  const blocks: Block[] = [];
  readRecords(member(content, 'parts'), `${param}.parts`).forEach((part, index) => {
    const where = `${param}.parts.${index}`;
    const block = decodePart(part, where);
    if (block === null) return;
    if (block.type === 'tool-call' && role === 'user') {
      throw invalid(`${where}.functionCall`, 'belongs in a content with role model');
    }
    joinBlock(blocks, role === 'user' ? asSaid(block) : ownResult(block, part));
  });
  return { role, blocks };
}

/** A user thinks aloud: thoughts and their signatures are the model's. */
function asSaid(block: Block): Block {
  return block.type === 'reasoning' ? { type: 'text', text: block.text } : block;
}

/** A text, a content, or a list of parts. @throws GatewayError `invalid_value` for anything but text. */
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
