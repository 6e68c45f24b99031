import { elementsAt } from '#json/index.ts';
import type { EventPieces } from '../shared/images/image-stream.ts';
import {
  type EventData,
  eventData,
  frameOf,
  membersOf,
  setMember,
  valueOf,
} from './event-frame.ts';

/** Members of a response that describe its images: events have them too. */
const described = ['created', 'background', 'output_format', 'quality', 'size', 'model'];

/** The first letter of `null`. */
const firstOfNull = 0x6e;
const succeeded = 'image_generation.completed';
const failed = 'image_generation.partial_failed';

/**
 * The events of an equivalent stream, for a response that came whole although a stream was asked for: a final image for
 * each entry, the usage with the last. An entry that is an error becomes the event of a failed one.
 * @param json a response that `readResponse` has read
 */
export function* toEvents(json: Buffer): Generator<EventPieces> {
  const response = { json, members: membersOf(json) };
  const data = response.members.get('data');
  const entries = data === undefined ? [] : elementsAt(json, data.valueStart);
  const usage = valueOf(response, 'usage');
  for (const [index, { start, end }] of entries.entries()) {
    const event = eventData(json.subarray(start, end));
    const failure = valueOf(event, 'error');
    const isFailed = failure !== null && failure[0] !== firstOfNull;
    const isLast = index === entries.length - 1;
    const type = isFailed ? failed : succeeded;
    setMember(event, 'type', Buffer.from(JSON.stringify(type)));
    if (!isFailed) {
      for (const key of described) {
        const value = valueOf(response, key);
        if (value !== null && !event.members.has(key)) setMember(event, key, value);
      }
      if (isLast && usage !== null) setMember(event, 'usage', usage);
    }
    yield piecesOf(type, event);
    // The usage of a set whose last image failed.
    if (isLast && isFailed && usage !== null) {
      const rest = eventData(Buffer.from(`{"type":"${succeeded}"}`));
      setMember(rest, 'usage', usage);
      yield piecesOf(succeeded, rest);
    }
  }
}

function piecesOf(name: string, event: EventData): EventPieces {
  const pieces = frameOf(name, event);
  return { name, pieces, dataStart: pieces[0]?.length ?? 0 };
}
