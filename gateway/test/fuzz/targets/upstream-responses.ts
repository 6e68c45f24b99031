import { createHash } from 'node:crypto';
import fc from 'fast-check';
import type { TextProtocolName } from '#canonical/index.ts';
import {
  textCodecs,
  textProtocols,
  verdict,
  type ResponseContext,
  type StreamTap,
} from '#protocols/index.ts';
import { EventTooLarge } from '#upstream/event-stream.ts';
import { eachEvent, sameNames, sliced } from '../../recordings/tap-run.ts';
import { requestOf } from '../../support/canonical.ts';
import { textProtocolNames } from '../../support/convert.ts';
import { readerOf } from '../../support/converted-reader.ts';
import { candidates, eventsOf } from '../../support/messages-samples.ts';
import { createRandom, seedOf } from '../random.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isUpstreamError } from './refusals.ts';

const usage = { input: 3, cacheRead: 0, cacheWrite: 0, cacheWrite1h: 0, output: 5, reasoning: 0 };
const request = requestOf({ stream: true, wantsUsage: true });
const context: ResponseContext = {
  requestId: 'req_up',
  model: 'up',
  createdAt: 1,
  request,
  inputTokens: 3,
};

const said = fc.sample(candidates, { seed: 1, numRuns: 12 });

const bodiesOf = (upstream: TextProtocolName): Buffer[] =>
  said.map((candidate) => {
    const response = { candidates: [candidate], extensions: [] };
    return Buffer.from(
      JSON.stringify(textCodecs[upstream].encodeResponse(response, usage, context)),
    );
  });

const streamsOf = (upstream: TextProtocolName): Buffer[] =>
  said.map((candidate) => {
    const encoder = textCodecs[upstream].createStreamEncoder(context);
    const frames = eventsOf(candidate).map((event) => encoder.push(event));
    return Buffer.from(frames.join('') + encoder.end(usage));
  });

const upstreamName = { clientModel: 'm', upstreamModel: 'up' };

function readWhole(upstream: TextProtocolName, client: TextProtocolName, input: Buffer): void {
  const reader =
    upstream === client ? textProtocols[upstream] : readerOf(upstream, client, request);
  const { body } = reader.readResponse(input, upstreamName);
  if (upstream === client) return;
  const json = JSON.parse(String(body)) as Record<string, unknown>;
  textCodecs[client].decodeResponse(json);
}

/** Sealed state is different each time. */
const withoutNonces = (sent: Buffer | string | null): string =>
  String(sent).replaceAll(/gw2\.[\w-]+|Z3cyL[\w+/-]+/g, '');

/** A digest of what a client is sent, and how the stream ended. Nothing of it is kept, as in the relay. */
function relayed(tap: StreamTap, chunks: readonly Buffer[]): string {
  const sent = createHash('sha1');
  let isOver = false;
  let hasFailed = false;
  eachEvent(chunks, (event) => {
    if (isOver) return;
    const flags = tap.inspect(event);
    hasFailed = (flags & verdict.failed) !== 0;
    isOver = hasFailed || tap.closed;
    if (hasFailed) return;
    if ((flags & verdict.replace) !== 0) sent.update(withoutNonces(tap.replacement));
    else if ((flags & verdict.drop) === 0) sent.update(event.raw);
  });
  if (tap.finished && !hasFailed) sent.update(withoutNonces(tap.completion()));
  return `${sent.digest('hex')} ${tap.finished} ${hasFailed}`;
}

function readStream(upstream: TextProtocolName, client: TextProtocolName, input: Buffer): void {
  const tap = () =>
    upstream === client
      ? textProtocols[upstream].createStreamTap({ ...sameNames, ...upstreamName })
      : readerOf(upstream, client, request).createStreamTap(sameNames);
  const whole = relayed(tap(), [input]);
  const random = createRandom(seedOf(input));
  const cuts = Array.from({ length: 12 }, () => random.below(input.length + 1));
  const cut = relayed(tap(), sliced(input, cuts));
  holds(cut === whole, 'a client is sent the same wherever the upstream’s bytes are cut');
}

const isStreamError = (error: unknown): boolean => error instanceof EventTooLarge;

export const responseTargets: readonly FuzzTarget[] = textProtocolNames.flatMap((upstream) =>
  textProtocolNames.flatMap((client) => [
    {
      name: `answer of ${upstream} for ${client}`,
      isJson: true,
      samples: bodiesOf(upstream),
      run: (input: Buffer) => readWhole(upstream, client, input),
      isRefusal: isUpstreamError,
    },
    {
      name: `stream of ${upstream} for ${client}`,
      isJson: false,
      samples: streamsOf(upstream),
      run: (input: Buffer) => readStream(upstream, client, input),
      isRefusal: isStreamError,
    },
  ]),
);
