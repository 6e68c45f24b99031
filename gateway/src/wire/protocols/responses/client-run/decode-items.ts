import type { Block, ClientItem, ToolCallBlock, ToolResultBlock, Turn } from '#canonical/index.ts';
import { isAbsent, isRecord, type JsonRecord, recordAt } from '../../shared/values.ts';
import { decodeContent } from '../codec/request/decode-content.ts';
import { requireString } from '../../shared/text/request-values.ts';

interface Decoded {
  readonly role: Turn['role'];
  readonly blocks: readonly Block[];
}

type ItemDecoder = (item: JsonRecord, param: string) => Decoded;

/** Items of tools that the client runs, as calls of the functions that stand for these tools and their results. */
export const clientRunDecoders: Readonly<Record<string, ItemDecoder>> = {
  shell_call: callDecoder('shell_call', 'shell', (item) => recordAt(item, 'action')),
  local_shell_call: callDecoder('local_shell_call', 'local_shell', (item) => {
    const { type: _, ...action } = recordAt(item, 'action');
    return action;
  }),
  apply_patch_call: callDecoder('apply_patch_call', 'apply_patch', (item) =>
    recordAt(item, 'operation'),
  ),
  computer_call: (item, param) => {
    const { actions, action } = item;
    const isList = Array.isArray(actions);
    const name = isList ? 'computer' : 'computer_use_preview';
    const decode = callDecoder('computer_call', name, () =>
      isList ? { actions } : isRecord(action) ? action : {},
    );
    return decode(item, param);
  },
  shell_call_output: resultDecoder(({ output }) => ({ content: textBlocks(shellText(output)) })),
  local_shell_call_output: resultDecoder(({ output }) => ({
    content: textBlocks(typeof output === 'string' ? output : JSON.stringify(output ?? '')),
  })),
  apply_patch_call_output: resultDecoder(({ output, status }) => {
    const hasFailed = status === 'failed';
    const usual = hasFailed ? 'The patch was not applied.' : 'The patch was applied.';
    return {
      content: textBlocks(typeof output === 'string' && output !== '' ? output : usual),
      isError: hasFailed,
    };
  }),
  computer_call_output: resultDecoder(({ output }, param) => {
    const { image_url, file_id, detail } = isRecord(output) ? output : {};
    return {
      content: decodeContent(
        [{ type: 'input_image', image_url, file_id, detail }],
        `${param}.output`,
      ),
    };
  }),
};

/** A search that the client answers. The vendor's own searches are traces that nobody else can read. */
export function decodeToolSearch(item: JsonRecord, param: string): Decoded | null {
  if (item['execution'] !== 'client' || isAbsent(item['call_id'])) return null;
  if (item['type'] === 'tool_search_call') {
    const decode = callDecoder('tool_search_call', 'tool_search', ({ arguments: sentArguments }) =>
      isRecord(sentArguments) ? sentArguments : {},
    );
    return decode(item, param);
  }
  const tools: readonly unknown[] = Array.isArray(item['tools']) ? item['tools'] : [];
  const names = tools.map((tool) => (isRecord(tool) ? String(tool['name'] ?? tool['type']) : ''));
  const foundText = names.length === 0 ? 'No tools were found.' : `Found: ${names.join(', ')}.`;
  return resultDecoder(() => ({ content: textBlocks(foundText) }))(item, param);
}

function callDecoder(
  kind: ClientItem,
  name: string,
  read: (item: JsonRecord) => JsonRecord,
): ItemDecoder {
  return (item, param) => {
    const call: ToolCallBlock = {
      type: 'tool-call',
      id: requireString(item['call_id'], `${param}.call_id`),
      name,
      kind: 'function',
      arguments: JSON.stringify(read(item)),
      item: kind,
    };
    return { role: 'assistant', blocks: [call] };
  };
}

function resultDecoder(
  read: (
    item: JsonRecord,
    param: string,
  ) => { readonly content: readonly Block[]; readonly isError?: boolean },
): ItemDecoder {
  return (item, param) => {
    const { call_id: callId, id } = item;
    const isNamed = !isAbsent(callId) || isAbsent(id);
    const { content, isError = false } = read(item, param);
    const result: ToolResultBlock = {
      type: 'tool-result',
      id: isNamed ? requireString(callId, `${param}.call_id`) : requireString(id, `${param}.id`),
      name: null,
      kind: 'function',
      content,
      isError,
    };
    return { role: 'user', blocks: [result] };
  };
}

function textBlocks(text: string): Block[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

/** What the commands printed and how they ended. */
function shellText(output: unknown): string {
  if (typeof output === 'string') return output;
  if (!Array.isArray(output)) return '';
  return output
    .filter(isRecord)
    .map(({ stdout, stderr, outcome }) => {
      const { type, exit_code: code } = isRecord(outcome) ? outcome : {};
      const end =
        type === 'timeout' ? 'timed out' : `exit code ${typeof code === 'number' ? code : 0}`;
      const errors = typeof stderr === 'string' && stderr !== '' ? `stderr:\n${stderr}` : '';
      return [stdout, errors, end]
        .filter((part) => typeof part === 'string' && part !== '')
        .join('\n');
    })
    .join('\n\n');
}
