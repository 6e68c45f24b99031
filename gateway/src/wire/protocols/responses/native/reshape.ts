import { frame } from '../../shared/text/events.ts';
import { recordAt, type JsonRecord, recordsIn } from '../../shared/values.ts';

/** Turns a whole response into the frames of a stream. */
export function toEvents(response: JsonRecord): string {
  const frames: string[] = [];
  const write = (type: string, members: JsonRecord): void => {
    const event = { type, sequence_number: frames.length, ...members };
    frames.push(frame(type, JSON.stringify(event)));
  };
  const { output, usage: _, ...rest } = response;
  write('response.created', { response: { ...rest, status: 'in_progress', output: [] } });
  for (const [output_index, item] of recordsIn(output).entries()) {
    write('response.output_item.added', { output_index, item: begun(item) });
    writeDeltas(write, { item_id: item['id'], output_index }, item);
    write('response.output_item.done', { output_index, item });
  }
  const ending = response['status'] === 'incomplete' ? 'incomplete' : 'completed';
  write(`response.${ending}`, { response });
  return frames.join('');
}

/** Joins the events of a complete stream. The last event has the response; earlier ones may have the output. */
export function toWhole(events: readonly JsonRecord[]): JsonRecord {
  const items: unknown[] = [];
  let response: JsonRecord = {};
  for (const event of events) {
    const { type } = event;
    if (type === 'response.output_item.done') items.push(event['item']);
    else if (type === 'response.completed' || type === 'response.incomplete') {
      response = recordAt(event, 'response');
    }
  }
  const { output } = response;
  return Array.isArray(output) && output.length > 0 ? response : { ...response, output: items };
}

type Write = (type: string, members: JsonRecord) => void;

function writeDeltas(write: Write, place: JsonRecord, item: JsonRecord): void {
  const { type } = item;
  if (type === 'function_call') {
    const { arguments: text, name } = item;
    write('response.function_call_arguments.delta', { ...place, delta: text });
    write('response.function_call_arguments.done', { ...place, name, arguments: text });
  } else if (type === 'custom_tool_call') {
    const { input } = item;
    write('response.custom_tool_call_input.delta', { ...place, delta: input });
    write('response.custom_tool_call_input.done', { ...place, input });
  } else if (type === 'message') {
    for (const [content_index, part] of recordsIn(item['content']).entries()) {
      writePart(write, { ...place, content_index }, part);
    }
  } else if (type === 'reasoning') {
    for (const [summary_index, part] of recordsIn(item['summary']).entries()) {
      const at = { ...place, summary_index };
      const { text } = part;
      write('response.reasoning_summary_part.added', { ...at, part: { ...part, text: '' } });
      write('response.reasoning_summary_text.delta', { ...at, delta: text });
      write('response.reasoning_summary_text.done', { ...at, text });
      write('response.reasoning_summary_part.done', { ...at, part });
    }
  }
}

function writePart(write: Write, place: JsonRecord, part: JsonRecord): void {
  const isRefusal = part['type'] === 'refusal';
  const name = isRefusal ? 'refusal' : 'text';
  const text = part[name];
  const logprobs = isRefusal ? {} : { logprobs: part['logprobs'] ?? [] };
  const kind = isRefusal ? 'refusal' : 'output_text';
  write('response.content_part.added', { ...place, part: { ...part, [name]: '' } });
  write(`response.${kind}.delta`, { ...place, delta: text, ...logprobs });
  write(`response.${kind}.done`, { ...place, [name]: text, ...logprobs });
  write('response.content_part.done', { ...place, part });
}

function begun(item: JsonRecord): JsonRecord {
  const empty: Record<string, unknown> = { ...item };
  if ('status' in item) empty['status'] = 'in_progress';
  for (const name of ['content', 'summary']) if (Array.isArray(item[name])) empty[name] = [];
  for (const name of ['arguments', 'input']) if (typeof item[name] === 'string') empty[name] = '';
  return empty;
}
