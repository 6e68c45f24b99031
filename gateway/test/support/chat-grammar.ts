/**
 * What a chat client requires of a stream, written independently of the encoder: order, counts, and the content of each
 * chunk. Throws at the first violation.
 */
export interface ReadChoice {
  content: string;
  reasoning: string;
  refusal: string;
  readonly details: unknown[];
  readonly annotations: unknown[];
  readonly calls: ReadCall[];
  finish: string | null;
}

export interface ReadCall {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  text: string;
}

interface Chunk {
  readonly id: string;
  readonly object: string;
  readonly created: number;
  readonly model: string;
  readonly choices: readonly {
    readonly index: number;
    readonly delta: Readonly<Record<string, unknown>>;
    readonly finish_reason: string | null;
  }[];
  readonly usage?: object | null;
}

interface CallPiece {
  readonly index: number;
  readonly id?: string;
  readonly type?: string;
  readonly function?: { readonly name?: string; readonly arguments?: string };
  readonly custom?: { readonly name?: string; readonly input?: string };
}

export function readChatStream(stream: string, wantsUsage: boolean): ReadChoice[] {
  const frames = stream.split('\n\n');
  require(frames.pop() === '', 'the stream ends inside a frame');
  require(frames.pop() === 'data: [DONE]', 'no [DONE] at the end');
  const chunks = frames.map(parseFrame);
  const first = chunks[0];
  for (const { id, object, created, model } of chunks) {
    require(object === 'chat.completion.chunk', 'not a chunk');
    require(id === first?.id && created === first.created && model === first.model, 'another head');
  }
  if (chunks.at(-1)?.choices.length === 0) {
    require(wantsUsage && Boolean(chunks.pop()?.usage), 'a usage chunk nobody asked for');
  }
  const choices = new Map<number, ReadChoice>();
  for (const chunk of chunks) {
    require(chunk.usage === (wantsUsage ? null : undefined), 'usage in the wrong place');
    require(chunk.choices.length === 1, 'not one choice in a chunk');
    for (const choice of chunk.choices) readChoice(choices, choice);
  }
  require(choices.size > 0, 'no choice at all');
  for (const choice of choices.values()) requireComplete(choice);
  return [...choices].toSorted(([a], [b]) => a - b).map(([, choice]) => choice);
}

function parseFrame(frame: string): Chunk {
  require(frame.startsWith('data: ') && !frame.includes('\n'), `not a frame: ${frame}`);
  return JSON.parse(frame.slice('data: '.length)) as Chunk;
}

function readChoice(
  choices: Map<number, ReadChoice>,
  { index, delta, finish_reason: finish }: Chunk['choices'][number],
): void {
  let choice = choices.get(index);
  if (choice === undefined) {
    require(delta['role'] === 'assistant', 'the first chunk has no role');
    choice = {
      content: '',
      reasoning: '',
      refusal: '',
      details: [],
      annotations: [],
      calls: [],
      finish: null,
    };
    choices.set(index, choice);
  } else require(delta['role'] === undefined, 'a second role');
  require(choice.finish === null, 'something after the finish');
  choice.content += text(delta['content']);
  choice.reasoning += text(delta['reasoning_content']);
  choice.refusal += text(delta['refusal']);
  choice.details.push(...list(delta['reasoning_details']));
  choice.annotations.push(...list(delta['annotations']));
  for (const piece of list(delta['tool_calls'])) readPiece(choice.calls, piece as CallPiece);
  choice.finish = finish;
}

function readPiece(calls: ReadCall[], piece: CallPiece): void {
  const { index, id, type } = piece;
  const name = piece.function?.name ?? piece.custom?.name;
  const written = piece.function?.arguments ?? piece.custom?.input;
  require(written !== undefined, 'a call without arguments');
  const known = calls[index];
  if (known === undefined) {
    require(index === calls.length, `call ${index} after ${calls.length}`);
    require(written === '', 'arguments with the name');
    require(Boolean(id) && Boolean(type) && name !== undefined, 'a call without id, type or name');
    require(type === (piece.custom === undefined ? 'function' : 'custom'), 'another type of call');
    calls.push({ id: id ?? '', type: type ?? '', name: name ?? '', text: '' });
    return;
  }
  require(id === undefined && type === undefined && name === undefined, 'a call named twice');
  require((known.type === 'custom') === (piece.custom !== undefined), 'arguments of another type');
  known.text += written;
}

function requireComplete({ calls, finish }: ReadChoice): void {
  require(finish !== null, 'no finish reason');
  require(calls.every(
    ({ type, text: written }) => type === 'custom' || written !== '',
  ), 'a call with empty arguments');
  if (finish === 'tool_calls') require(calls.length > 0, 'tool_calls without calls');
  if (finish === 'stop') require(calls.length === 0, 'stop after calls');
}

function require(holds: boolean, violation: string): asserts holds {
  if (!holds) throw new Error(violation);
}

const text = (value: unknown) => (typeof value === 'string' ? value : '');
const list = (value: unknown): unknown[] => (Array.isArray(value) ? (value as unknown[]) : []);
