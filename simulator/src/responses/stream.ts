import type { WireEvent } from '../http/reply.ts';
import { objectsIn, stringAt, type JsonObject } from '../json.ts';
import { obfuscate } from '../openai/obfuscation.ts';
import type { OutputItem } from './render.ts';

type Step = readonly [type: string, fields: JsonObject];

/** All events from `response.created` to the terminal one, numbered. */
export function renderEvents(
  opening: JsonObject,
  items: readonly OutputItem[],
  final: JsonObject,
  obfuscation: boolean,
): WireEvent[] {
  const terminal = final['status'] === 'incomplete' ? 'response.incomplete' : 'response.completed';
  const steps: Step[] = [
    ['response.created', { response: opening }],
    ['response.in_progress', { response: opening }],
    ...items.flatMap(renderItemSteps),
    [terminal, { response: final }],
  ];
  return steps.map(([type, fields], sequence) => ({
    event: type,
    data: JSON.stringify({
      type,
      sequence_number: sequence,
      ...fields,
      ...(obfuscation && typeof fields['delta'] === 'string' && obfuscate(fields['delta'])),
    }),
  }));
}

function renderItemSteps(output: OutputItem, index: number): Step[] {
  const place = { item_id: output.item['id'], output_index: index };
  return [
    ['response.output_item.added', { output_index: index, item: emptied(output.item) }],
    ...innerSteps(output, place),
    ['response.output_item.done', { output_index: index, item: output.item }],
  ];
}

/** The item at its announcement, when its streamed members are empty. */
function emptied(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'message':
      return { ...item, status: 'in_progress', content: [] };
    case 'function_call':
      return { ...item, status: 'in_progress', arguments: '' };
    case 'custom_tool_call':
      return { ...item, status: 'in_progress', input: '' };
    case 'image_generation_call':
      return { id: item['id'], type: item['type'], status: 'in_progress', result: null };
    case 'compaction':
      return item;
    default:
      return { ...item, summary: [] };
  }
}

function innerSteps({ item, pieces }: OutputItem, place: JsonObject): Step[] {
  switch (item['type']) {
    case 'message':
      return messageSteps(item, pieces, place);
    case 'function_call':
      return [
        ...deltas('response.function_call_arguments.delta', pieces, place),
        [
          'response.function_call_arguments.done',
          { ...place, name: item['name'], arguments: item['arguments'] },
        ],
      ];
    case 'custom_tool_call':
      return [
        ...deltas('response.custom_tool_call_input.delta', pieces, place),
        ['response.custom_tool_call_input.done', { ...place, input: item['input'] }],
      ];
    case 'image_generation_call':
      return imageSteps(item, pieces, place);
    default:
      return summarySteps(item, pieces, place);
  }
}

function messageSteps(item: JsonObject, pieces: readonly string[], place: JsonObject): Step[] {
  const [part = {}] = objectsIn(item['content']);
  const at = { ...place, content_index: 0 };
  if (part['type'] === 'refusal') {
    return [
      ['response.content_part.added', { ...at, part: { type: 'refusal', refusal: '' } }],
      ...deltas('response.refusal.delta', pieces, at),
      ['response.refusal.done', { ...at, refusal: part['refusal'] }],
      ['response.content_part.done', { ...at, part }],
    ];
  }
  return [
    ['response.content_part.added', { ...at, part: { ...part, text: '' } }],
    ...deltas('response.output_text.delta', pieces, { ...at, logprobs: [] }),
    ['response.output_text.done', { ...at, text: part['text'], logprobs: [] }],
    ['response.content_part.done', { ...at, part }],
  ];
}

function summarySteps(item: JsonObject, pieces: readonly string[], place: JsonObject): Step[] {
  const [part] = objectsIn(item['summary']);
  if (part === undefined) return [];
  const at = { ...place, summary_index: 0 };
  return [
    ['response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } }],
    ...deltas('response.reasoning_summary_text.delta', pieces, at),
    ['response.reasoning_summary_text.done', { ...at, text: stringAt(part, 'text') }],
    ['response.reasoning_summary_part.done', { ...at, part }],
  ];
}

function imageSteps(item: JsonObject, pieces: readonly string[], place: JsonObject): Step[] {
  const { background, output_format, quality, size } = item;
  return [
    ['response.image_generation_call.in_progress', place],
    ['response.image_generation_call.generating', place],
    ...pieces.map((image, index): Step => [
      'response.image_generation_call.partial_image',
      {
        ...place,
        background,
        output_format,
        quality,
        size,
        partial_image_index: index,
        partial_image_b64: image,
      },
    ]),
    ['response.image_generation_call.completed', place],
  ];
}

function deltas(type: string, pieces: readonly string[], place: JsonObject): Step[] {
  return pieces.map((delta) => [type, { ...place, delta }] as const);
}
