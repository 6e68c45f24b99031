import type { Block, TextBlock, Turn } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord } from '../../../shared/values.ts';
import { decodeItem } from './decode-item.ts';
import { invalid, readString } from './invalid.ts';

export interface DecodedInput {
  readonly system: readonly TextBlock[];
  readonly turns: readonly Turn[];
  /** Tools that the conversation defined on the way. */
  readonly tools: readonly unknown[];
}

/**
 * Decodes `instructions` and `input` into the system prompt and the turns. Adjacent items of one speaker make one turn.
 * @throws GatewayError `invalid_value`.
 */
export function decodeInput(json: JsonRecord): DecodedInput {
  const { instructions, input } = json;
  const system: TextBlock[] = [];
  if (!isAbsent(instructions) && instructions !== '') {
    system.push({ type: 'text', text: readString(instructions, 'instructions') });
  }
  const turns: { role: Turn['role']; blocks: Block[] }[] = [];
  const tools: unknown[] = [];
  for (const [index, item] of readItems(input).entries()) {
    const param = `input.${index}`;
    if (!isRecord(item)) throw invalid(param, 'must be an object');
    if (item['type'] === 'additional_tools' && Array.isArray(item['tools'])) {
      tools.push(...item['tools']);
      continue;
    }
    if (item['type'] === 'tool_search_output' && Array.isArray(item['tools'])) {
      tools.push(...item['tools']);
    }
    const { role, blocks } = decodeItem(item, param);
    // The user's turn stands between two of the model's, even if it says nothing.
    if (blocks.length === 0 && role !== 'user') continue;
    if (role === 'system' && turns.length === 0 && blocks.every((block) => block.type === 'text')) {
      system.push(...blocks);
      continue;
    }
    const last = turns.at(-1);
    const speaker = role ?? last?.role ?? 'user';
    if (last?.role === speaker) last.blocks.push(...blocks);
    else turns.push({ role: speaker, blocks: [...blocks] });
  }
  return { system, turns, tools };
}

function readItems(input: unknown): readonly unknown[] {
  // A stored prompt has input of its own.
  if (isAbsent(input)) return [];
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  if (Array.isArray(input)) return input;
  throw invalid('input', 'must be a string or an array of items');
}
