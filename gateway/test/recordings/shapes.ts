import { payloads, readEvents } from './tap-run.ts';

/** What a response is made of, without a word of what it says: names of kinds, and how many of each in a row. */

/** Of a stream: its events. */
export function shapeOfStream(sent: string): string {
  return inRow(payloads(readEvents([Buffer.from(sent)])).map(eventKind));
}

/** Of a whole response: the members of its parts, in order. */
export function shapeOfBody(body: Buffer): string {
  return inRow(bodyKinds(JSON.parse(String(body))));
}

type Json = Readonly<Record<string, unknown>>;

function eventKind(event: unknown): string {
  if (typeof event === 'string') return event;
  const json = event as Json;
  const block = json['content_block'] ?? json['delta'] ?? json['item'];
  if (typeof json['type'] === 'string') return named(json['type'], kindOf(block));
  return partKinds(json).join('+') || 'nothing';
}

function bodyKinds(json: Json): string[] {
  // Responses and messages.
  const list = json['output'] ?? json['content'];
  if (Array.isArray(list)) {
    const end = json['stop_reason'] ?? json['status'];
    return [...(list as Json[]).map((item) => String(item['type'])), `=${String(end)}`];
  }
  return partKinds(json);
}

/** Of chat's choices and generate-content's candidates. */
function partKinds(json: Json): string[] {
  const choices = (json['choices'] ?? json['candidates'] ?? []) as Json[];
  const kinds = choices.flatMap((choice) => {
    const message = (choice['delta'] ?? choice['message'] ?? {}) as Json;
    const parts = ((choice['content'] as Json | undefined)?.['parts'] ?? []) as Json[];
    const end = choice['finish_reason'] ?? choice['finishReason'];
    return [
      ...Object.keys(message).filter((name) => !isEmpty(message[name])),
      ...parts.map((part) => Object.keys(part).join('&')),
      ...(typeof end === 'string' ? [`=${end}`] : []),
    ];
  });
  return isEmpty(json['usage'] ?? json['usageMetadata']) ? kinds : [...kinds, 'usage'];
}

const isEmpty = (value: unknown) => value === null || value === undefined || value === '';

function kindOf(value: unknown): string {
  if (typeof value !== 'object' || value === null) return '';
  const { type, stop_reason: reason } = value as Json;
  return typeof type === 'string' ? type : typeof reason === 'string' ? `=${reason}` : '';
}

const named = (type: string, kind: string) => (kind === '' ? type : `${type}:${kind}`);

/** `a a a b` → `a×3 b`. */
function inRow(kinds: readonly string[]): string {
  const runs: { kind: string; count: number }[] = [];
  for (const kind of kinds) {
    const last = runs.at(-1);
    if (last?.kind === kind) last.count += 1;
    else runs.push({ kind, count: 1 });
  }
  return runs.map(({ kind, count }) => (count === 1 ? kind : `${kind}×${count}`)).join(' ');
}
