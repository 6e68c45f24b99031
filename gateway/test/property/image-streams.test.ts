import fc from 'fast-check';
import { expect, it } from 'vitest';
import { images, verdict } from '#protocols/index.ts';
import { EventStreamReader } from '#upstream/index.ts';

const names = images.eventNamesFor('edit', { 'x-stainless-lang': 'js' });
const image = fc.record(
  {
    b64_json: fc.oneof(fc.base64String({ minLength: 4 }), fc.constant('A'.repeat(100_000))),
    size: fc.constantFrom('1x1', '20x30'),
    model: fc.constantFrom('theirs', 'x'),
    note: fc.constantFrom('"type":"x"', '\\', '[DONE]', 'é', '}', '\u2028'),
    usage: fc.record({ input_tokens: fc.nat(99), output_tokens: fc.nat(99) }),
  },
  { requiredKeys: ['b64_json'] },
);
const partials = ['image_generation.partial_image', 'image_edit.partial_image'];
const finals = [
  'image_generation.complete',
  'image_generation.completed',
  'image_edit.completed',
  'image_generation.partial_succeeded',
];
const events = fc.array(
  fc.record({ type: fc.constantFrom(...partials, ...finals), image, isNamed: fc.boolean() }),
  { maxLength: 5 },
);
const lineEnd = fc.constantFrom('\n', '\r\n');

/** What a client gets of a body that comes in these pieces. */
function relay(chunks: readonly Buffer[]) {
  const tap = images.createStreamTap({ names, clientModel: 'mine', upstreamModel: 'theirs' });
  const written: Buffer[] = [];
  const reader = new EventStreamReader({
    maxEventBytes: 1_000_000,
    onEvent: (event) => {
      const flags = tap.inspect(event);
      if ((flags & verdict.drop) !== 0) return;
      const pieces = (flags & verdict.replace) === 0 ? [event.raw] : tap.replacement;
      written.push(Buffer.concat(pieces));
    },
  });
  for (const chunk of chunks) reader.push(chunk);
  reader.end();
  return {
    text: Buffer.concat([...written, ...tap.completion()]).toString(),
    entries: tap.entries,
    usage: tap.usage,
    finished: tap.finished,
  };
}

it('A stream of pictures comes out the same, however it is sliced', () => {
  fc.assert(
    fc.property(events, lineEnd, fc.array(fc.nat(), { maxLength: 12 }), (given, end, places) => {
      const body = Buffer.from(
        given
          .map(({ type, image: members, isNamed }) => {
            const data = JSON.stringify({ type, ...members });
            return `${isNamed ? `event: ${type}${end}` : ''}data: ${data}${end}${end}`;
          })
          .join(''),
      );
      const cuts = places.map((at) => at % (body.length + 1)).toSorted((a, b) => a - b);
      const pieces = [...cuts, body.length].map((cut, index) =>
        body.subarray(index === 0 ? 0 : cuts[index - 1], cut),
      );
      const whole = relay([body]);
      expect(relay(pieces)).toEqual(whole);
      const count = given.filter(({ type }) => finals.includes(type)).length;
      expect(whole.entries).toHaveLength(count);
      expect(whole.finished).toBe(count > 0);
      const told = whole.text
        .split(/\r?\n\r?\n/)
        .filter((part) => part.includes('data: {'))
        .map((part) => JSON.parse(part.slice(part.indexOf('data: ') + 6)) as object);
      // The last picture of a set may get the usage; here no event brings it.
      expect(told).toEqual(
        expectedOrder(given).map(({ type, image: members }) => ({
          ...members,
          ...(members.model !== undefined && { model: 'mine' }),
          type: partials.includes(type) ? names.partial : names.final,
        })),
      );
    }),
  );
});

/** A picture of a set comes when the next one of the set does, or at the end. */
function expectedOrder<Event extends { readonly type: string }>(given: readonly Event[]): Event[] {
  const ordered: Event[] = [];
  let held: Event | null = null;
  for (const event of given) {
    if (!event.type.endsWith('partial_succeeded')) ordered.push(event);
    else {
      if (held !== null) ordered.push(held);
      held = event;
    }
  }
  return held === null ? ordered : [...ordered, held];
}
