import type { Block, OpaqueBlock, Turn } from '#canonical/index.ts';
import { isAbsent, type JsonRecord } from '../../../shared/values.ts';
import { clientRunDecoders, decodeToolSearch } from '../../client-run/decode-items.ts';
import { decodeContent } from './decode-content.ts';
import { ownExtension } from './request-extensions.ts';
import { invalid, requireString } from '../../../shared/text/request-values.ts';
import { withExtensions } from '../../../shared/text/openai-members.ts';

/** The content of one input item and its speaker. Null: the previous speaker. */
export interface DecodedItem {
  readonly role: Turn['role'] | null;
  readonly blocks: readonly Block[];
}

type ItemDecoder = (item: JsonRecord, param: string) => DecodedItem;

const decoders: Readonly<Record<string, ItemDecoder>> = {
  message: decodeMessage,
  reasoning: decodeReasoning,
  function_call: (item, param) => decodeCall(item, param, 'function'),
  custom_tool_call: (item, param) => decodeCall(item, param, 'custom'),
  function_call_output: (item, param) => decodeOutput(item, param, 'function'),
  custom_tool_call_output: (item, param) => decodeOutput(item, param, 'custom'),
  ...clientRunDecoders,
  tool_search_call: decodeSearch,
  tool_search_output: decodeSearch,
};

const roles: Readonly<Record<string, Turn['role']>> = {
  user: 'user',
  assistant: 'assistant',
  system: 'system',
  developer: 'system',
};

/** Items whose content the provider stores, or that only the provider can read. */
const serverState = new Set(['item_reference', 'compaction', 'compaction_trigger']);

/** @throws GatewayError `invalid_value`. */
export function decodeItem(item: JsonRecord, param: string): DecodedItem {
  const type = isAbsent(item['type']) ? 'message' : requireString(item['type'], `${param}.type`);
  const decode = Object.hasOwn(decoders, type) ? decoders[type] : undefined;
  return decode === undefined ? decodeOpaque(type, item) : decode(item, param);
}

function decodeMessage(item: JsonRecord, param: string): DecodedItem {
  const writtenRole = requireString(item['role'], `${param}.role`);
  const role = Object.hasOwn(roles, writtenRole) ? roles[writtenRole] : undefined;
  if (role === undefined) {
    throw invalid(`${param}.role`, 'must be user, assistant, system or developer');
  }
  const blocks = decodeContent(item['content'], `${param}.content`);
  const { phase } = item;
  if (typeof phase !== 'string') return { role, blocks };
  const extension = ownExtension('phase', phase, 'drop');
  const extended = blocks.map((block) => ({
    ...block,
    extensions: [...(block.extensions ?? []), extension],
  }));
  return { role, blocks: extended };
}

function decodeReasoning(item: JsonRecord): DecodedItem {
  const { id, encrypted_content: data } = item;
  const summary = joinTexts(item['summary']);
  const text = summary === '' ? joinTexts(item['content']) : summary;
  const hasData = typeof data === 'string' && data !== '';
  const hasId = typeof id === 'string' && id !== '';
  const block: Block = {
    type: 'reasoning',
    text,
    ...(summary !== '' && { summary: true }),
    ...(hasData && {
      state: { protocol: 'responses', kind: 'encrypted', data, ...(hasId && { id }) },
    }),
    ...withExtensions(!hasData && hasId ? [ownExtension('reasoning.id', id, 'ignore')] : []),
  };
  return { role: 'assistant', blocks: [block] };
}

/** The texts of a reasoning item's parts, separated by blank lines. */
export function joinTexts(parts: unknown): string {
  if (!Array.isArray(parts)) return '';
  return parts
    .map((part: unknown) => (part as JsonRecord | null)?.['text'])
    .filter((text): text is string => typeof text === 'string' && text !== '')
    .join('\n\n');
}

function decodeCall(item: JsonRecord, param: string, kind: 'function' | 'custom'): DecodedItem {
  const { namespace } = item;
  const key = kind === 'custom' ? 'input' : 'arguments';
  const block: Block = {
    type: 'tool-call',
    id: requireString(item['call_id'], `${param}.call_id`),
    name: requireString(item['name'], `${param}.name`),
    ...(typeof namespace === 'string' && { namespace }),
    kind,
    arguments: requireString(item[key], `${param}.${key}`),
  };
  return { role: 'assistant', blocks: [block] };
}

function decodeOutput(item: JsonRecord, param: string, kind: 'function' | 'custom'): DecodedItem {
  const { output } = item;
  const isContent = typeof output === 'string' || Array.isArray(output);
  const block: Block = {
    type: 'tool-result',
    id: requireString(item['call_id'], `${param}.call_id`),
    name: null,
    kind,
    content: isContent
      ? decodeContent(output, `${param}.output`)
      : isAbsent(output)
        ? []
        : [{ type: 'text', text: JSON.stringify(output) }],
    isError: false,
  };
  return { role: 'user', blocks: [block] };
}

function decodeSearch(item: JsonRecord, param: string): DecodedItem {
  return decodeToolSearch(item, param) ?? decodeOpaque(String(item['type']), item);
}

/** Traces of hosted tools, and unknown items. */
function decodeOpaque(name: string, item: JsonRecord): DecodedItem {
  const block: OpaqueBlock = {
    type: 'opaque',
    protocol: 'responses',
    name,
    value: item,
    ifForeign: serverState.has(name) ? 'refuse' : 'drop',
  };
  return { role: name.endsWith('_call') ? 'assistant' : null, blocks: [block] };
}
