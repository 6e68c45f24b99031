import {
  type Block,
  type GenerationResponse,
  noExtensions,
  type Finish,
  type OpaqueBlock,
  type TextBlock,
} from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';
import { readEnding } from '../../../shared/text/endings.ts';
import { decodeAnnotations, decodeLogprobs } from '../text-details.ts';
import { joinTexts } from '../request/decode-item.ts';
import { decodeGeneratedImage } from '../request/decode-content.ts';

/** Decodes a complete response into its only candidate. */
export function decodeResponse(json: JsonRecord): GenerationResponse {
  const output = Array.isArray(json['output']) ? json['output'].filter(isRecord) : [];
  const blocks: Block[] = output.flatMap(decodeOutputItem);
  const has = (type: Block['type']): boolean => blocks.some((block) => block.type === type);
  const finish = decodeFinish(json, {
    any: blocks.length > 0,
    call: has('tool-call'),
    refusal: has('refusal'),
  });
  return { candidates: [{ blocks, finish }], extensions: noExtensions };
}

/** The output, as far as the finish depends on it. */
interface SeenOutput {
  readonly any: boolean;
  readonly call: boolean;
  readonly refusal: boolean;
}

/** Why a response ended. This protocol gives a reason only if it was cut. */
export function decodeFinish(response: JsonRecord, seenOutput: SeenOutput): Finish {
  const { status } = response;
  if (status === 'incomplete') {
    const { reason } = recordAt(response, 'incomplete_details');
    const { reason: namedReason, ...guess } =
      typeof reason === 'string' ? readEnding(reason) : { reason: 'length' as const };
    if (namedReason !== 'filtered') return { reason: 'length', ...guess };
    return { reason: seenOutput.any ? 'filtered' : 'blocked', ...guess };
  }
  if (status === 'cancelled') return { reason: 'other' };
  if (seenOutput.call) return { reason: 'tool' };
  return { reason: seenOutput.refusal ? 'refused' : 'end' };
}

type ItemDecoder = (item: JsonRecord) => Block[];

const decoders: Readonly<Record<string, ItemDecoder>> = {
  message: decodeMessage,
  reasoning: decodeReasoning,
  function_call: (item) => [decodeCall(item, 'function')],
  custom_tool_call: (item) => [decodeCall(item, 'custom')],
  image_generation_call: decodeImageCall,
};

/** Decodes one item of a complete response. Empty items (reasoning without text) have no block. */
export function decodeOutputItem(item: JsonRecord): Block[] {
  const type = String(item['type']);
  const decode = Object.hasOwn(decoders, type) ? decoders[type] : undefined;
  return decode === undefined ? [opaqueItem(type, item)] : decode(item);
}

/** A trace of a hosted tool. */
function opaqueItem(name: string, value: JsonRecord): OpaqueBlock {
  return { type: 'opaque', protocol: 'responses', name, value, ifForeign: 'drop' };
}

function decodeMessage(item: JsonRecord): Block[] {
  const content = Array.isArray(item['content']) ? item['content'].filter(isRecord) : [];
  return content.flatMap((part): Block[] => {
    if (part['type'] === 'refusal') {
      const { refusal } = part;
      return typeof refusal === 'string' && refusal !== ''
        ? [{ type: 'refusal', text: refusal }]
        : [];
    }
    return decodeText(part);
  });
}

function decodeText(part: JsonRecord): TextBlock[] {
  const { type, text } = part;
  if (type !== 'output_text' || typeof text !== 'string' || text === '') return [];
  const { citations = [], citesOwn } = decodeAnnotations(part['annotations']);
  const logprobs = decodeLogprobs(part['logprobs']);
  return [
    {
      type: 'text',
      text,
      ...(citations.length > 0 && { citations }),
      ...(citesOwn && { citesOwn }),
      ...(logprobs !== undefined && { logprobs }),
    },
  ];
}

function decodeReasoning(item: JsonRecord): Block[] {
  const { id, encrypted_content: data } = item;
  const summary = joinTexts(item['summary']);
  // A server that sends both repeats itself.
  const text = summary === '' ? joinTexts(item['content']) : summary;
  const state = decodeState(data, id);
  if (text === '' && state === undefined) return [];
  return [
    {
      type: 'reasoning',
      text,
      ...(summary !== '' && { summary: true }),
      ...(state !== undefined && { state }),
    },
  ];
}

export function decodeState(data: unknown, id: unknown): Block['state'] {
  if (typeof data !== 'string' || data === '') return undefined;
  const own = typeof id === 'string' && id !== '' ? { id } : {};
  return { protocol: 'responses', kind: 'encrypted', data, ...own };
}

function decodeCall(item: JsonRecord, kind: 'function' | 'custom'): Block {
  const { name, namespace } = item;
  return {
    type: 'tool-call',
    id: callId(item),
    name: typeof name === 'string' ? name : '',
    ...(typeof namespace === 'string' && { namespace }),
    kind,
    arguments: callArguments(item, kind),
  };
}

export function callId({ call_id: callId, id }: JsonRecord): string | null {
  if (typeof callId === 'string' && callId !== '') return callId;
  return typeof id === 'string' && id !== '' ? id : null;
}

/** The arguments as the model wrote them. Some servers send an object. */
export function callArguments(item: JsonRecord, kind: 'function' | 'custom'): string {
  const value = item[kind === 'custom' ? 'input' : 'arguments'];
  if (typeof value === 'string') return value;
  return isRecord(value) ? JSON.stringify(value) : '';
}

function decodeImageCall(item: JsonRecord): Block[] {
  const block = decodeGeneratedImage(item);
  return block === null ? [opaqueItem('image_generation_call', item)] : [block];
}
