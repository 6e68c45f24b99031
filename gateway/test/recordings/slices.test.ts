import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { clients, streamTo } from './converted-responses.ts';
import { inTurn } from '../support/runs.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { bytewise, sliced } from './tap-run.ts';

type Cut = (bytes: Buffer) => readonly Buffer[];

/** Also those that fail in their middle. */
const streams = recordings.filter(({ sse }) => typeof sse === 'string');
/** Byte by byte, longer ones cost time and show nothing new. */
const mostBytes = 20_000;

const crlf: Cut = (bytes) => [Buffer.from(String(bytes).replaceAll('\n', '\r\n'))];

/** The same places for the same seed: a few, and many. */
function randomCuts(seed: number): Cut[] {
  const few = fc.array(fc.nat(), { minLength: 1, maxLength: 10, size: 'max' });
  const many = fc.array(fc.nat(), { minLength: 50, maxLength: 500, size: 'max' });
  return fc
    .sample(fc.tuple(few, many), { seed, numRuns: 1 })[0]!
    .map((places) => (bytes) => sliced(bytes, places));
}

function given(client: TextProtocolName, recording: Recording, cut?: Cut) {
  const { tap, failed, sent } = streamTo(client, recording, cut);
  return { sent, failed, finished: tap.finished, usage: tap.usage, failure: tap.failure };
}

describe.skipIf(absence !== null)(`recorded streams, cut anew for others ${absence ?? ''}`, () => {
  const pairs = clients.flatMap((upstream) =>
    clients
      .filter((client) => client !== upstream)
      .map((client) => ({ upstream, client, title: `${upstream} to ${client}` })),
  );

  it.each(pairs)('K42 K43 $title: no cut changes a byte', ({ upstream, client }) => {
    const own = streams.filter(({ protocol }) => protocol === upstream);
    expect(own.length).toBeGreaterThan(20);
    const others = clients.filter((name) => name !== upstream);
    for (const [index, recording] of own.entries()) {
      if (!inTurn(index, others).includes(client)) continue;
      const whole = given(client, recording);
      const isShort = (recording.sse ?? '').length < mostBytes;
      const cuts = [crlf, ...randomCuts(index + 1), ...(isShort ? [bytewise] : [])];
      for (const [at, cut] of cuts.entries()) {
        expect(given(client, recording, cut), `${recording.id}, cut ${at}`).toEqual(whole);
      }
    }
  });
});
