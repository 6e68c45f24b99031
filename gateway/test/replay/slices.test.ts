import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { absence, recordings } from '../recordings/recordings.ts';
import { isLong, runs } from '../support/runs.ts';
import { parseEvents } from './client-events.ts';
import { expectedEvents } from './expected-events.ts';
import { failsSomehow } from './failures.ts';
import { type RecordedGateway, startRecordedGateway } from './recorded-gateway.ts';
import { asksForUsage, isStream } from './recorded-request.ts';

/** More writes than this for one response cost time and show nothing new. */
const mostWrites = runs(500, 1500);

const streams = recordings.filter(isStream).filter((recording) => !failsSomehow(recording));

/**
 * How the upstream's bytes are cut for one recording: two sequences of random sizes from 1 to 40, and one fixed
 * size, from 1 upwards, that grows with the recording's position in the list and with its length.
 */
function cutsOf(length: number, index: number): string[] {
  const least = Math.ceil(length / mostWrites);
  const sizes = [`slice=${least + (index % 7)}`];
  if (length / 20 < mostWrites) {
    sizes.push(`slice=random;seed=${index + 1}`, `slice=random;seed=${index + 1000}`);
  }
  return sizes;
}

describe.skipIf(absence !== null)(`recorded streams, cut anew ${absence ?? ''}`, () => {
  let recorded: RecordedGateway;
  beforeAll(async () => {
    recorded = await startRecordedGateway();
  });
  afterAll(() => recorded.gateway.close());

  const cases = streams.map((recording, index) => ({ id: recording.id, recording, index }));
  it.each(cases)('$id survives any cut, with LF and with CR LF', async ({ recording, index }) => {
    const expected = expectedEvents(recording, asksForUsage(recording));
    const cuts = cutsOf(recording.sse.length, index);
    const faults = isLong
      ? ['crlf', ...cuts, ...cuts.map((cut) => `${cut};crlf`)]
      : cuts.map((cut, at) => ((index + at) % 2 === 0 ? cut : `${cut};crlf`));
    const texts = await Promise.all(
      faults.map(async (fault) => (await recorded.replay(recording, { fault })).text),
    );
    for (const [position, text] of texts.entries()) {
      expect(parseEvents(text), faults[position]).toEqual(expected);
    }
  });

  it('log no error', () => {
    expect(recorded.gateway.errors).toEqual([]);
  });
});
