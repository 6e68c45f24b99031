import { elementsAt, type KeyedRange, membersAt, objectStart } from '#json/index.ts';
import { imageFrame, renamed, withMember } from './event-frame.ts';

/** Members of a response that describe its pictures: events have them too. */
const described = ['size', 'quality', 'output_format', 'model', 'created', 'background'];

/** The first letter of `null`. */
const firstOfNull = 0x6e;
const name = 'image_generation.completed';

/**
 * The events of an equivalent stream, for a response that came whole although a stream was asked for: a final picture for
 * each entry, the usage with the last. An entry that is an error becomes the event of a failed one.
 * @param body a response that `readResponse` has read
 */
export function* toEvents(body: Buffer): Generator<Buffer> {
  const members = membersOf(body);
  const data = members.get('data');
  const entries = data === undefined ? [] : elementsAt(body, data.valueStart);
  const usage = members.get('usage');
  for (const [index, { start, end }] of entries.entries()) {
    const entry = body.subarray(start, end);
    const own = membersOf(entry);
    const isLast = index === entries.length - 1;
    const failure = own.get('error');
    const isFailed = failure !== undefined && entry[failure.valueStart] !== firstOfNull;
    if (isFailed) {
      const failed = 'image_generation.partial_failed';
      yield imageFrame(failed, renamed(entry, { type: failed, model: null }));
    } else {
      let event = renamed(entry, { type: name, model: null });
      for (const key of described) event = withOwn(event, key, own, body, members);
      if (isLast) event = withOwn(event, 'usage', own, body, members);
      yield imageFrame(name, event);
    }
    // The usage of a set whose last picture failed.
    if (isLast && isFailed && usage !== undefined) {
      const value = body.subarray(usage.valueStart, usage.valueEnd);
      yield imageFrame(name, withMember(Buffer.from(`{"type":"${name}"}`), 'usage', value));
    }
  }
}

type Members = ReadonlyMap<string, KeyedRange>;

/** The event with a member of the response, unless its entry has that member or the response lacks it. */
function withOwn(event: Buffer, key: string, own: Members, body: Buffer, members: Members): Buffer {
  const member = members.get(key);
  if (member === undefined || own.has(key)) return event;
  return withMember(event, key, body.subarray(member.valueStart, member.valueEnd));
}

function membersOf(json: Buffer): Members {
  const start = objectStart(json, 0);
  const members = start === null ? [] : membersAt(json, start);
  return new Map(members.map((member) => [member.key, member]));
}
