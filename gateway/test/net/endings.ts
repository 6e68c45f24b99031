import type { Modality } from './modalities.ts';
import type { PlayedCall, Stage, StageOptions } from './stage.ts';

/** How one request ends. */
export interface Ending {
  readonly name: string;
  readonly options?: StageOptions;
  /** Plays it; the stage has begun, unless `before` does something first. */
  readonly play: (stage: Stage, modality: Modality) => Promise<void>;
  readonly before?: (stage: Stage) => void;
  /** Why a modality cannot end like this; null: it can. */
  readonly impossible?: (modality: Modality) => string | null;
}

const isStreamed = ({ response }: Modality): boolean => response.withContent > 0;

const onlyStreams = (modality: Modality): string | null =>
  isStreamed(modality) ? null : 'nothing of its response is shown before the end';

/** Plays each request that the gateway sends, from this one on. */
async function playAll(stage: Stage, play: (call: PlayedCall) => void, from = 0): Promise<void> {
  for (let at = from; ; at += 1) {
    const call = await stage.call(at);
    if (call === null) return;
    play(call);
  }
}

const first = ({ response }: Modality): readonly string[] =>
  response.pieces.slice(0, response.beforeContent + response.withContent);
const second = ({ response }: Modality): readonly string[] =>
  response.pieces.slice(response.beforeContent + response.withContent);
const head = ({ response }: Modality): readonly string[] =>
  response.pieces.slice(0, response.beforeContent);

const overloaded = JSON.stringify({
  error: { message: 'overloaded', type: 'overloaded_error' },
  code: 'Throttling',
  message: 'overloaded',
});

const respond = (call: PlayedCall): void => call.complete();

/** Ends the exchange of a client that has left, whatever its upstream does. */
async function afterLeaving(stage: Stage, call: PlayedCall, rest: readonly string[]) {
  stage.pass(1_000);
  call.data(...rest).end();
  await playAll(stage, respond, 1);
}

export const endings: readonly Ending[] = [
  { name: 'complete', play: (stage) => playAll(stage, respond) },
  {
    name: 'complete by the second channel',
    async play(stage) {
      const call = await stage.call(0);
      stage.pass(40);
      call?.head(503, { 'content-type': 'application/json' }).data(overloaded).end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'unanswered',
    play: (stage) =>
      playAll(stage, (call) =>
        call
          .head(503, { 'content-type': 'application/json', 'retry-after': '3' })
          .data(overloaded)
          .end(),
      ),
  },
  {
    name: 'unanswered without connections',
    options: { isUnsent: true },
    play: (stage) => playAll(stage, (call) => call.break('not-sent', 'connect')),
  },
  {
    name: 'refused by the upstream',
    play: (stage) =>
      playAll(stage, (call) =>
        call
          .head(400, { 'content-type': 'application/json' })
          .data(
            JSON.stringify({
              error: {
                message: 'too long',
                type: 'invalid_request_error',
                code: 'context_length_exceeded',
              },
              code: 'InvalidParameter',
              message: 'too long',
            }),
          )
          .end(),
      ),
  },
  {
    name: 'not asked',
    before: (stage) => stage.client.leave(),
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'client left before the request was sent',
    options: { isUnsent: true },
    async play(stage) {
      const call = await stage.call(0);
      stage.client.leave();
      stage.pass(1_000);
      call?.break('not-sent', 'connect');
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'client left before the head',
    async play(stage, modality) {
      const call = await stage.call(0);
      stage.client.leave();
      stage.pass(1_000);
      if (call !== null) await afterLeaving(stage, call.head(), modality.response.pieces);
    },
  },
  {
    name: 'client left before the head, and nothing comes',
    async play(stage) {
      await stage.call(0);
      stage.client.leave();
      for (const wait of [1_000, 60_000, 60_000, 600_000]) stage.pass(wait);
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'client left after the head',
    async play(stage, modality) {
      const call = await stage.call(0);
      call?.head().data(...first(modality));
      stage.client.leave();
      if (call !== null) await afterLeaving(stage, call, second(modality));
    },
  },
  {
    name: 'broken before a head',
    play: (stage) => playAll(stage, (call) => call.break('uncertain', 'reset')),
  },
  {
    name: 'stale connection',
    async play(stage) {
      const call = await stage.call(0);
      call?.break('stale-connection', 'reset');
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'broken before content',
    async play(stage, modality) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(...head(modality))
        .break('started', 'reset');
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'broken after content',
    impossible: onlyStreams,
    async play(stage, modality) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(...first(modality))
        .break('started', 'reset');
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'ended without its terminator',
    async play(stage, modality) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(...first(modality))
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'failure as the response',
    async play(stage, { response }) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(...response.failure)
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'failure after content',
    impossible: onlyStreams,
    async play(stage, modality) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(...first(modality), ...modality.response.failure)
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: "client's deadline",
    options: { headers: { 'x-stainless-timeout': '20' } },
    async play(stage, { response }) {
      const call = await stage.call(0);
      stage.pass(10_000);
      stage.pass(9_750);
      call
        ?.head()
        .data(...response.pieces)
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'total deadline',
    async play(stage) {
      await stage.call(0);
      stage.pass(599_999);
      stage.pass(1);
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'total deadline after content',
    impossible: onlyStreams,
    async play(stage, modality) {
      const call = await stage.call(0);
      call?.head().data(...first(modality));
      stage.pass(600_000);
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'silence before content',
    async play(stage, modality) {
      const call = await stage.call(0);
      stage.pass(16_000);
      call?.head().data(...head(modality));
      stage.pass(16_000);
      call?.data(...modality.response.pieces.slice(modality.response.beforeContent)).end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'held up, and broken',
    impossible: onlyStreams,
    async play(stage, modality) {
      const call = await stage.call(0);
      stage.client.stall();
      call?.head().data(...first(modality));
      stage.pass(6_000);
      call?.break('started', 'idle-timeout');
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'held up, and read on',
    impossible: onlyStreams,
    async play(stage, modality) {
      const call = await stage.call(0);
      stage.client.stall();
      call?.head().data(...first(modality));
      stage.pass(6_000);
      stage.client.drain();
      call?.data(...second(modality)).end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'overspent',
    options: { money: 10_000_000n },
    async play(stage, modality) {
      const call = await stage.call(0);
      if (isStreamed(modality)) call?.head().data(...first(modality), modality.response.costly);
      else call?.head().data(modality.response.costly);
      call?.data(...(isStreamed(modality) ? second(modality) : [])).end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'nothing is left',
    options: { money: 0n },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'no memory',
    options: { hasNoMemory: true },
    impossible: ({ response }) =>
      response.large === undefined ? 'nothing of its response is kept' : null,
    async play(stage, { response }) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(response.large ?? '')
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'large request',
    options: { isLarge: true },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'large response',
    impossible: ({ response }) =>
      response.large === undefined ? 'nothing of its response is kept' : null,
    async play(stage, { response }) {
      const call = await stage.call(0);
      call
        ?.head()
        .data(response.large ?? '')
        .end();
      await playAll(stage, respond, 1);
    },
  },
  {
    name: 'journal refuses',
    options: { journal: 'refuses' },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'journal unusable',
    options: { journal: 'unusable' },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'defect while sending',
    options: { defect: 'send' },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'defect while writing',
    options: { defect: 'write' },
    play: (stage) => playAll(stage, respond),
  },
  {
    name: 'gateway stops',
    async play(stage, modality) {
      const call = await stage.call(0);
      call?.head().data(...first(modality));
      stage.stop();
      await playAll(stage, respond, 1);
    },
  },
];
