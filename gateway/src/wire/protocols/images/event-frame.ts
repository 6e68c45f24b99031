import {
  type Edit,
  insertMember,
  membersAt,
  objectStart,
  replaceValue,
  skipSpace,
  splice,
} from '#json/index.ts';

/** What changes in the data of an event. */
export interface EventEdits {
  readonly type: string;
  /** JSON text of the client's name of the model; null: the name stays. */
  readonly model: Buffer | null;
}

/**
 * The data of an event with the client's names. Only the bytes of the names change.
 * @param data a JSON object
 */
export function renamed(data: Buffer, { type, model }: EventEdits): Buffer {
  const start = objectStart(data, 0)!;
  const edits: Edit[] = [];
  const members = membersAt(data, start);
  const typed = members.findLast(({ key }) => key === 'type');
  if (typed === undefined) edits.push(insertMember(placeIn(data, start), 'type', type));
  else edits.push(replaceValue(typed, type));
  const named = members.findLast(({ key }) => key === 'model');
  if (model !== null && named !== undefined) {
    edits.push({ start: named.valueStart, end: named.valueEnd, bytes: model });
  }
  return splice(data, edits);
}

/**
 * The data of an event with another member.
 * @param json its value
 */
export function withMember(data: Buffer, key: string, json: Buffer): Buffer {
  const { start, empty } = placeIn(data, objectStart(data, 0)!);
  const bytes = Buffer.concat([
    Buffer.from(`${JSON.stringify(key)}:`),
    json,
    Buffer.from(empty ? '' : ','),
  ]);
  return splice(data, [{ start, end: start, bytes }]);
}

/** One complete event. Line ends in its data, which is JSON, are only space. */
export function imageFrame(name: string, data: Buffer): Buffer {
  const head = Buffer.from(`event: ${name}\ndata: `);
  const frame = Buffer.concat([head, data, frameEnd]);
  for (const end of [0x0a, 0x0d]) {
    let at = frame.indexOf(end, head.length);
    while (at >= 0 && at < frame.length - frameEnd.length) {
      frame[at] = 0x20;
      at = frame.indexOf(end, at + 1);
    }
  }
  return frame;
}

const frameEnd = Buffer.from('\n\n');

function placeIn(data: Buffer, start: number): { start: number; empty: boolean } {
  return { start: start + 1, empty: data[skipSpace(data, start + 1)] === 0x7d };
}
