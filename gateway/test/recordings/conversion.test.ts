import { describe, expect, it } from 'vitest';
import {
  Unconvertible,
  type ReportedUsage,
  type TextProtocolName,
} from '../../src/canonical/index.ts';
import { createConverter } from '../../src/conversion/index.ts';
import { GatewayError } from '../../src/errors/index.ts';
import { textCodecs, textProtocols, verdict, UnreadableAnswer } from '../../src/protocols/index.ts';
import { requestOf } from '../support/canonical.ts';
import { readerOf, signerOf } from '../support/converted-reader.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { readEvents, runTap, sameNames } from './tap-run.ts';

const clients = Object.keys(textProtocols) as TextProtocolName[];
const toOthers = (all: readonly Recording[]) =>
  all.flatMap((recording) =>
    clients
      .filter((client) => client !== recording.protocol)
      .map((client) => ({ id: recording.id, client, recording })),
  );

const isGood = ({ status, notes }: Recording) =>
  status === 200 && !/error (object|event) inside the stream/.test(notes);
/** A call that only its own vendor's clients can carry out; nobody else is offered the tool. */
const isForeignCall = ({ notes }: Recording) => notes.includes('output apply_patch_call');
const streams = recordings.filter(
  (each) => typeof each.sse === 'string' && isGood(each) && !isForeignCall(each),
);
const bodies = recordings.filter(
  (each) => each.body !== undefined && each.sse == null && isGood(each) && isAnswer(each),
);

function isAnswer({ protocol, body, endpoint }: Recording): boolean {
  if (/count|input_tokens/i.test(endpoint)) return false;
  try {
    const bytes = Buffer.from(JSON.stringify(body));
    textProtocols[protocol].readResponse(bytes, { clientModel: 'm', upstreamModel: 'm' });
    return true;
  } catch (error) {
    if (error instanceof UnreadableAnswer) return false;
    throw error;
  }
}

describe.skipIf(absence !== null)(`recorded traffic for other clients ${absence ?? ''}`, () => {
  it.each(toOthers(streams))('$id streamed to $client', ({ client, recording }) => {
    const { protocol, sse } = recording;
    const request = requestOf({ wantsUsage: true, stream: true });
    const tap = readerOf(protocol, client, request).createStreamTap(sameNames);
    let sent = '';
    for (const event of readEvents([Buffer.from(sse ?? '')])) {
      const flags = tap.inspect(event);
      expect(flags & verdict.failed).toBe(0);
      if (flags & verdict.replace) sent += String(tap.replacement);
    }
    expect(tap.finished).toBe(true);
    sent += tap.completion();

    // What the client is sent is read as an upstream of its protocol would be.
    const own = runTap(client, sent);
    expect(own.tap.failure).toBeNull();
    expect(own.tap.finished).toBe(true);
    expect(own.tap.outputBytes > 0).toBe(tap.outputBytes > 0);
    // Messages has to say something; that is the estimate then.
    if (tap.usage !== null) expect(totals(own.tap.usage)).toEqual(totals(tap.usage));
  });

  it.each(toOthers(bodies))('$id whole to $client', ({ client, recording }) => {
    const { protocol, body } = recording;
    const echo = { clientModel: 'm', upstreamModel: 'm' };
    const bytes = Buffer.from(JSON.stringify(body));
    const converted = readerOf(protocol, client).readResponse(bytes, echo);
    const own = textProtocols[client].readResponse(converted.body, echo);
    expect(converted.body.length).toBeGreaterThan(2);
    if (converted.usage !== null) expect(totals(own.usage)).toEqual(totals(converted.usage));
  });

  it.each(toOthers(recordings.filter(({ request }) => request !== null)))(
    '$id asked of $client',
    async ({ client: upstream, recording }) => {
      const protocol = textProtocols[recording.protocol];
      const body = Buffer.from(JSON.stringify(recording.request));
      const path = { operation: 'generate', model: 'm', stream: recording.stream } as const;
      const isBodyModel = recording.protocol !== 'generate-content';
      let request;
      try {
        request = protocol.readRequest(
          protocol.openRequest(body, isBodyModel ? { ...path, model: null, stream: null } : path),
        );
      } catch (error) {
        if (error instanceof GatewayError) return;
        throw error;
      }
      const converter = createConverter({
        protocols: textProtocols,
        codecs: textCodecs,
        signer: signerOf('key'),
        fetchMedia: async () => ({ mime: 'image/png', bytes: Buffer.from('x') }),
        now: () => 0,
      });
      const convert = async () => {
        const exchange = {
          id: 'req_1',
          arrivedAt: 0,
          protocol: recording.protocol,
          request,
          keyId: 'key_1',
          strict: false,
        };
        try {
          const { body } = await converter.open(exchange).convert({
            protocol: upstream,
            channel: 'ch_1',
            provider: 'openai-compatible',
            model: 'up',
            maxOutputTokens: 9000,
            capabilities: new Set(['vision', 'tools', 'reasoning', 'sampling']),
            echoReasoning: null,
          });
          return String(body);
        } catch (error) {
          expect(error).not.toBeInstanceOf(Unconvertible);
          expect(error).toBeInstanceOf(GatewayError);
          expect((error as GatewayError).entry.status).toBe(400);
          expect((error as GatewayError).param).toBeTruthy();
          return (error as GatewayError).message;
        }
      };
      expect(await convert()).toBe(await convert());
    },
  );
});

/** What every protocol can say. */
function totals(usage: ReportedUsage | null) {
  if (usage === null) return null;
  const { input, cacheRead, cacheWrite, cacheWrite1h, output } = usage.tokens;
  return { all: input + cacheRead + cacheWrite + cacheWrite1h, cacheRead, output };
}
