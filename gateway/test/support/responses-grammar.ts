/**
 * Checks a Responses event stream against the rules clients rely on, and nothing of the code that writes it: numbers,
 * ids and indexes, who may follow whom, that the ends repeat what was streamed, and one terminal event.
 */

type Fields = Readonly<Record<string, unknown>>;

interface Part {
  readonly type: string;
  text: string;
  readonly annotations: unknown[];
  finished: boolean;
  closed: boolean;
}

interface Item {
  readonly id: string;
  readonly type: string;
  readonly parts: Part[];
  text: string;
  finished: boolean;
}

export class IllegalStream extends Error {}

/** @returns the parsed data of every event; throws `IllegalStream` at the first that must not be. */
export function checkResponsesStream(text: string): Fields[] {
  const events = readFrames(text);
  const output: unknown[] = [];
  let open: Item | null = null;
  let response: Fields | null = null;
  let terminal = false;

  for (const [number, event] of events.entries()) {
    const type = String(event['type']);
    const demand = (holds: boolean, rule: string): void => {
      if (!holds) throw new IllegalStream(`event ${number} (${type}): ${rule}`);
    };
    demand(!terminal, 'after the terminal event');
    demand(event['sequence_number'] === number, 'sequence number');
    demand(!event['error'] || type === 'error', 'an error member makes clients throw');
    demand((number === 0) === (type === 'response.created' || type === 'error'), 'the first event');

    if ('response' in event) {
      const own = event['response'] as Fields;
      demand(response === null || own['id'] === response['id'], 'another response');
      demand(response === null || own['model'] === response['model'], 'another model');
      response = own;
      if (type === 'response.created' || type === 'response.in_progress') {
        demand(own['status'] === 'in_progress' && same(own['output'], []), 'not fresh');
        demand(number < 2 && (number === 1) === (type === 'response.in_progress'), 'order');
        continue;
      }
      demand(terminals.has(type) && type === `response.${String(own['status'])}`, 'its status');
      terminal = true;
      if (type === 'response.failed') continue;
      demand(open === null, 'an item is open');
      demand(same(own['output'], output), 'the output is not what was streamed');
      continue;
    }
    if (type === 'error') {
      terminal = true;
      continue;
    }

    demand(number >= 2, 'before the response is in progress');
    demand(event['output_index'] === output.length, 'output index');
    const item = event['item'] as Fields | undefined;
    if (type === 'response.output_item.added') {
      demand(open === null, 'an item is open');
      demand(typeof item?.['id'] === 'string' && !output.some((o) => idOf(o) === item['id']), 'id');
      open = {
        id: String(item?.['id']),
        type: String(item?.['type']),
        parts: [],
        text: '',
        finished: false,
      };
      continue;
    }
    if (open === null) throw new IllegalStream(`event ${number} (${type}): no item is open`);
    if (type === 'response.output_item.done') {
      demand(item?.['id'] === open.id && item['type'] === open.type, 'another item');
      demand(
        open.parts.every((part) => part.closed),
        'a part is open',
      );
      checkItem(open, item ?? {}, demand);
      output.push(item);
      open = null;
      continue;
    }
    demand(event['item_id'] === open.id, 'item id');
    checkInside(open, type, event, demand);
  }
  if (!terminal) throw new IllegalStream('no terminal event');
  return events;
}

type Demand = (holds: boolean, rule: string) => void;

const terminals = new Set(['response.completed', 'response.incomplete', 'response.failed']);

/** Event → the type of its item, and of its part. */
const inside: Readonly<Record<string, readonly [item: string, part: string | null]>> = {
  'response.output_text.delta': ['message', 'output_text'],
  'response.output_text.done': ['message', 'output_text'],
  'response.output_text.annotation.added': ['message', 'output_text'],
  'response.refusal.delta': ['message', 'refusal'],
  'response.refusal.done': ['message', 'refusal'],
  'response.content_part.added': ['message', null],
  'response.content_part.done': ['message', null],
  'response.reasoning_summary_part.added': ['reasoning', null],
  'response.reasoning_summary_part.done': ['reasoning', null],
  'response.reasoning_summary_text.delta': ['reasoning', 'summary_text'],
  'response.reasoning_summary_text.done': ['reasoning', 'summary_text'],
  'response.function_call_arguments.delta': ['function_call', null],
  'response.function_call_arguments.done': ['function_call', null],
  'response.custom_tool_call_input.delta': ['custom_tool_call', null],
  'response.custom_tool_call_input.done': ['custom_tool_call', null],
  'response.image_generation_call.in_progress': ['image_generation_call', null],
  'response.image_generation_call.generating': ['image_generation_call', null],
  'response.image_generation_call.completed': ['image_generation_call', null],
};

function checkInside(open: Item, type: string, event: Fields, demand: Demand): void {
  const rule = inside[type];
  demand(rule !== undefined && rule[0] === open.type, `not in a ${open.type}`);
  if (type.includes('_call')) return checkCall(open, type, event, demand);
  const at = event['content_index'] ?? event['summary_index'];
  if (type.endsWith('part.added')) {
    demand(at === open.parts.length, 'part index');
    demand(
      open.parts.every((part) => part.closed),
      'a part is open',
    );
    const part = event['part'] as Fields;
    demand((part['text'] ?? part['refusal']) === '', 'a new part is empty');
    open.parts.push({
      type: String(part['type']),
      text: '',
      annotations: [],
      finished: false,
      closed: false,
    });
    return;
  }
  const part = open.parts[at as number];
  if (part === undefined) return demand(false, 'no such part');
  demand(!part.closed && at === open.parts.length - 1, 'part is closed');
  demand((rule?.[1] ?? part.type) === part.type, `not in a ${part.type}`);
  if (type.endsWith('.delta')) {
    demand(!part.finished && event['delta'] !== '', 'delta');
    part.text += String(event['delta']);
  } else if (type.endsWith('annotation.added')) {
    demand(event['annotation_index'] === part.annotations.length, 'annotation index');
    part.annotations.push(event['annotation']);
  } else if (type.endsWith('part.done')) {
    demand(part.finished, 'its text is not done');
    const done = event['part'] as Fields;
    demand((done['text'] ?? done['refusal']) === part.text, 'text of the part');
    demand(same(done['annotations'] ?? [], part.annotations), 'annotations of the part');
    part.closed = true;
  } else {
    demand(!part.finished && (event['text'] ?? event['refusal']) === part.text, 'done text');
    part.finished = true;
  }
}

function checkCall(open: Item, type: string, event: Fields, demand: Demand): void {
  if (open.type === 'image_generation_call') return;
  demand(!open.finished, 'after its end');
  if (type.endsWith('.delta')) open.text += String(event['delta']);
  else {
    demand((event['arguments'] ?? event['input']) === open.text, 'done arguments');
    open.finished = true;
  }
}

function checkItem(open: Item, item: Fields, demand: Demand): void {
  const content = (item['content'] ?? item['summary'] ?? []) as readonly Fields[];
  if (open.type === 'message' || open.type === 'reasoning') {
    const texts = content.map((part) => part['text'] ?? part['refusal']);
    demand(
      same(
        texts,
        open.parts.map((part) => part.text),
      ),
      'content of the item',
    );
  }
  if (open.type === 'message') demand(content.length > 0, 'an empty message');
  if (open.type === 'function_call' || open.type === 'custom_tool_call') {
    demand(open.finished, 'its arguments are not done');
    demand((item['arguments'] ?? item['input']) === open.text, 'arguments of the item');
  }
}

function readFrames(text: string): Fields[] {
  const frames = text.split('\n\n');
  if (frames.pop() !== '') throw new IllegalStream('the last frame is not complete');
  return frames.map((frame) => {
    const match = /^event: ([^\r\n]+)\ndata: ([^\r\n]+)$/.exec(frame);
    if (match === null) throw new IllegalStream(`not a frame: ${frame.slice(0, 80)}`);
    const event = JSON.parse(match[2] ?? '') as Fields;
    if (event['type'] !== match[1]) throw new IllegalStream(`name and type differ: ${match[1]}`);
    return event;
  });
}

function idOf(item: unknown): unknown {
  return (item as Fields)['id'];
}

function same(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
