import { describe, expect, it } from 'vitest';
import { Unconvertible, type ReportedUsage } from '#canonical/index.ts';
import { createConverter, createStateStore, type ConversionTarget } from '#conversion/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textCodecs, textProtocols } from '#protocols/index.ts';
import { withMedia } from '../support/convert.ts';
import { sealerOf } from '../support/converted-reader.ts';
import { bodies, bodyTo, clients, streams, streamTo } from './converted-responses.ts';
import { absence, type Recording, recordings } from './recordings.ts';
import { runTap, sameNames } from './tap-run.ts';
import { traitsOf } from '../support/upstream-traits.ts';

const toOthers = (all: readonly Recording[]) =>
  all.flatMap((recording) =>
    clients
      .filter((client) => client !== recording.protocol)
      .map((client) => ({ id: recording.id, client, recording })),
  );

describe.skipIf(absence !== null)(`recorded traffic for other clients ${absence ?? ''}`, () => {
  it.each(toOthers(streams))('$id streamed to $client', ({ client, recording }) => {
    const { tap, failed, sent } = streamTo(client, recording);
    expect(failed).toBe(false);
    expect(tap.finished).toBe(true);

    // What the client is sent is read as an upstream of its protocol would be.
    const own = runTap(client, sent);
    expect(own.tap.failure).toBeNull();
    expect(own.tap.finished).toBe(true);
    expect(own.tap.outputBytes > 0).toBe(tap.outputBytes > 0);
    // Messages has to say something; that is the estimate then.
    if (tap.usage !== null) expect(totals(own.tap.usage)).toEqual(totals(tap.usage));
  });

  it.each(toOthers(bodies))('$id whole to $client', ({ client, recording }) => {
    const converted = bodyTo(client, recording);
    const own = textProtocols[client].readResponse(converted.body, sameNames);
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
        sealer: sealerOf('key'),
        store: createStateStore({ now: () => 0 }),
      });
      const convert = async () => {
        const exchange = {
          id: 'req_1',
          arrivedAt: 0,
          protocol: recording.protocol,
          request,
          keyId: 'key_1',
          owner: 'user:1',
          strict: false,
        };
        try {
          const conversion = converter.open(exchange);
          const target: ConversionTarget = {
            protocol: upstream,
            channel: 'ch_1',
            provider: 'openai-compatible',
            traits: traitsOf('openai-compatible', 'up'),
            quirks: [],
            model: 'up',
            maxOutputTokens: 9000,
            capabilities: new Set(['vision', 'tools', 'reasoning', 'sampling']),
            echoReasoning: null,
          };
          const { body } = await withMedia((media) => conversion.convert(target, media));
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
