import type { TextProtocolName } from '#canonical/index.ts';
import type { Members, SaidOf } from './feature.ts';
import { outputMessage, outputText, textBlock } from './feature.ts';

/** A response of an upstream as it comes in one piece, and as its events. */
export interface WireResponse {
  readonly whole: string;
  readonly stream: string;
}

/** The plainest response of the protocol, with what is said in place of its own. */
export function wireResponse<Upstream extends TextProtocolName>(
  upstream: Upstream,
  said: SaidOf[Upstream] = {},
): WireResponse {
  const write: (said: SaidOf[Upstream]) => Written = writers[upstream];
  const { whole, events, ending } = write(said);
  const all = said.failure === undefined ? [...events, ...ending] : [...events, said.failure];
  return { whole: JSON.stringify(whole), stream: all.map(eventFrame).join('') };
}

interface Written {
  readonly whole: Members;
  readonly events: readonly Members[];
  /** The events that a response which fails does not come to. */
  readonly ending: readonly Members[];
}

const writers: { readonly [Upstream in TextProtocolName]: (said: SaidOf[Upstream]) => Written } = {
  chat: writeChat,
  responses: writeResponse,
  messages: writeMessage,
  'generate-content': writeContent,
};

function eventFrame(event: Members): string {
  const { type } = event;
  const name = typeof type === 'string' ? `event: ${type}\n` : '';
  return `${name}data: ${JSON.stringify(event)}\n\n`;
}

function writeChat({ message, choice, second, response }: SaidOf['chat']): Written {
  const { finish_reason: reason = 'stop', stop_reason: sequence, ...beside } = choice ?? {};
  const messages = [message ?? { content: 'so' }, ...(second === undefined ? [] : [second])];
  const { usage, ...about }: Members = { id: 'chatcmpl-1', created: 1, model: 'm', ...response };
  const end = { finish_reason: reason, ...(sequence !== undefined && { stop_reason: sequence }) };
  const chunk = (index: number, delta: Members, more: Members): Members => ({
    object: 'chat.completion.chunk',
    ...about,
    choices: [{ index, delta, ...more }],
  });
  return {
    whole: {
      object: 'chat.completion',
      ...about,
      choices: messages.map((each, index) => ({
        index,
        message: { role: 'assistant', ...each },
        ...beside,
        ...end,
      })),
      ...(usage !== undefined && { usage }),
    },
    // A member of the message after the other.
    events: messages.flatMap((each, index) =>
      Object.entries(each).map(([name, value]) =>
        chunk(index, { [name]: name === 'tool_calls' ? numbered(value) : value }, beside),
      ),
    ),
    ending: [
      ...messages.map((_, index) => chunk(index, {}, end)),
      ...(usage === undefined ? [] : [{ ...about, choices: [], usage }]),
    ],
  };
}

const numbered = (calls: unknown): Members[] =>
  (calls as Members[]).map((call, index) => ({ index, ...call }));

function writeResponse({ output = [soItem], response }: SaidOf['responses']): Written {
  const { status, ...about }: Members = {
    status: 'completed',
    id: 'resp_1',
    model: 'm',
    ...response,
  };
  const whole = { object: 'response', ...about, status, output };
  const begun = {
    object: 'response',
    id: about['id'],
    model: about['model'],
    status: 'in_progress',
  };
  return {
    whole,
    events: [
      { type: 'response.created', response: { ...begun, output: [] } },
      ...output.flatMap(itemEvents),
    ],
    ending: [{ type: `response.${String(status)}`, response: whole }],
  };
}

const soItem = outputMessage(outputText('so'));

function itemEvents(item: Members, at: number): Members[] {
  const place = { output_index: at, item_id: item['id'] };
  const begun = { ...item, ...Object.fromEntries(emptyOf(item)) };
  return [
    { type: 'response.output_item.added', output_index: at, item: begun },
    ...deltasOf(item).map((delta) => ({ ...place, ...delta })),
    { type: 'response.output_item.done', output_index: at, item },
  ];
}

const emptyOf = (item: Members): [string, unknown][] =>
  ['content', 'summary', 'arguments', 'input', 'encrypted_content']
    .filter((name) => name in item)
    .map((name) => [name, Array.isArray(item[name]) ? [] : '']);

function deltasOf(item: Members): Members[] {
  const parts = (name: string) => (item[name] ?? []) as Members[];
  switch (item['type']) {
    case 'message':
      return parts('content').flatMap(partEvents);
    case 'reasoning':
      return [
        ...parts('summary').map(({ text }, index) => ({
          type: 'response.reasoning_summary_text.delta',
          summary_index: index,
          delta: text,
        })),
        ...parts('content').map(({ text }, index) => ({
          type: 'response.reasoning_text.delta',
          content_index: index,
          delta: text,
        })),
      ];
    case 'function_call':
      return [{ type: 'response.function_call_arguments.delta', delta: item['arguments'] }];
    case 'custom_tool_call':
      return [{ type: 'response.custom_tool_call_input.delta', delta: item['input'] }];
    default:
      return [];
  }
}

function partEvents(part: Members, at: number): Members[] {
  const place = { content_index: at };
  if (part['type'] === 'refusal') {
    return [{ type: 'response.refusal.delta', ...place, delta: part['refusal'] }];
  }
  const { text, logprobs, annotations } = part;
  return [
    { type: 'response.output_text.delta', ...place, delta: text, logprobs: logprobs ?? [] },
    ...((annotations ?? []) as Members[]).map((annotation) => ({
      type: 'response.output_text.annotation.added',
      ...place,
      annotation,
    })),
    { type: 'response.output_text.done', ...place, text, logprobs },
    { type: 'response.content_part.done', ...place, part },
  ];
}

function writeMessage({ content = [textBlock('so')], response }: SaidOf['messages']): Written {
  const { stop_reason: reason = 'end_turn', ...more } = response ?? {};
  const { stop_sequence: sequence = null, usage, ...about }: Members = { id: 'msg_1', ...more };
  const head = { type: 'message', role: 'assistant', model: 'm', ...about };
  const end = { stop_reason: reason, stop_sequence: sequence };
  const { stop_details: details, container, ...announced }: Members = head;
  const last = { ...end, ...(details !== undefined && { stop_details: details }), container };
  return {
    whole: { ...head, content, ...end, ...(usage !== undefined && { usage }) },
    events: [
      { type: 'message_start', message: { ...announced, content: [], usage } },
      ...content.flatMap(blockEvents),
    ],
    ending: [{ type: 'message_delta', delta: last, usage }, { type: 'message_stop' }],
  };
}

function blockEvents(block: Members, index: number): Members[] {
  const { begun, deltas } = blockParts(block);
  return [
    { type: 'content_block_start', index, content_block: begun },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function blockParts(block: Members): { begun: Members; deltas: Members[] } {
  const { text, citations, thinking, signature, input } = block;
  if (text !== undefined) {
    const cited = ((citations ?? []) as Members[]).map((citation) => ({
      type: 'citations_delta',
      citation,
    }));
    const begun = { ...block, text: '', ...(citations !== undefined && { citations: [] }) };
    return { begun, deltas: [{ type: 'text_delta', text }, ...cited] };
  }
  if (thinking !== undefined) {
    const deltas: Members[] = [{ type: 'thinking_delta', thinking }];
    if (signature !== undefined) deltas.push({ type: 'signature_delta', signature });
    return { begun: { ...block, thinking: '', signature: '' }, deltas };
  }
  if (input !== undefined) {
    const delta = { type: 'input_json_delta', partial_json: JSON.stringify(input) };
    return { begun: { ...block, input: {} }, deltas: [delta] };
  }
  return { begun: block, deltas: [] };
}

function writeContent(said: SaidOf['generate-content']): Written {
  const { parts = [{ text: 'so' }], candidate, second, response } = said;
  const end = { finishReason: 'STOP', ...candidate };
  const about = { modelVersion: 'm', responseId: 'r1', ...response };
  const content = (own: readonly Members[]) => ({ content: { role: 'model', parts: own } });
  const all = [parts, ...(second === undefined ? [] : [second])];
  const candidates = (lists: readonly (readonly Members[])[]) =>
    lists.map((list, index) => ({ ...content(list), index, ...end }));
  return {
    whole: { candidates: candidates(all), ...about },
    events: parts.slice(0, -1).map((part) => ({ candidates: [content([part])] })),
    // Everything that is said about it comes with the last part.
    ending: [{ candidates: candidates(all.map((list) => list.slice(-1))), ...about }],
  };
}
