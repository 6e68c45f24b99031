import fc from 'fast-check';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { streamOf } from '#body-work/index.ts';
import { GatewayError } from '#errors/index.ts';
import { images, textProtocols } from '#protocols/index.ts';
import { type PlayedSetting, startAttempt } from '#test/support/played-attempt.ts';
import { UpstreamError, type UpstreamListener } from '#upstream/index.ts';
import { createDrainSlots } from '../overload/concurrency-gate.ts';
import { nothingUsed } from '../ending/record.ts';
import type { TickListener } from '../ticker.ts';
import { ImageStream } from '../images/image-stream.ts';
import { createFraming, StreamSink } from '../stream-sink.ts';
import { TextEvents } from '../text/streams/text-events.ts';
import { WholeResponse } from './whole-response.ts';

/* Whatever comes in whatever order, an attempt ends once, and leaves nothing behind. */

const echo = { clientModel: 'm', upstreamModel: 'm' };
const chat = textProtocols.chat;

const whole = JSON.stringify({
  id: 'x',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
});
const chunk = (delta: object, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: 'x', model: 'm', choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const image = (type: string) =>
  `data: ${JSON.stringify({ type: `image_generation.${type}`, b64_json: 'AAAA', size: '512x512' })}\n\n`;

/** What an upstream may send, cut anywhere. */
const said = [
  whole,
  whole.slice(0, 40),
  whole.slice(40),
  '{"error":{"message":"too long","code":"context_length_exceeded"}}',
  'no JSON',
  ': comment\n\n',
  chunk({ role: 'assistant', content: '' }),
  chunk({ content: 'hello' }),
  chunk({ content: 'hello' }).slice(0, 20),
  chunk({}, 'stop'),
  'data: {"id":"x","model":"m","choices":[],"usage":{"prompt_tokens":3,"completion_tokens":9}}\n\n',
  'data: {"error":{"message":"overloaded","type":"server_error"}}\n\n',
  'data: [DONE]\n\n',
  image('partial_image'),
  image('completed'),
  'x'.repeat(110_000),
];

type Step =
  | { readonly kind: 'head'; readonly status: number; readonly type: string | null }
  | { readonly kind: 'data'; readonly text: string }
  | { readonly kind: 'end' | 'leave' | 'stop' | 'drain' | 'sent' }
  | { readonly kind: 'tick'; readonly ms: number }
  | {
      readonly kind: 'break';
      readonly point: UpstreamError['breakPoint'];
      readonly reason: string;
    };

const anyStep: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('head' as const),
      status: fc.constantFrom(200, 200, 200, 206, 400, 429, 500),
      type: fc.constantFrom('text/event-stream', 'text/event-stream', 'application/json', null),
    }),
  },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('data' as const), text: fc.constantFrom(...said) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constantFrom('end' as const, 'leave', 'stop', 'drain', 'sent'),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('tick' as const),
      ms: fc.constantFrom(100, 600, 1_100, 6_000, 20_000, 70_000, 600_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constant('break' as const),
      point: fc.constantFrom('started' as const, 'not-sent', 'uncertain', 'stale-connection'),
      reason: fc.constantFrom('reset', 'idle-timeout', 'defect'),
    }),
  },
);

interface Setting {
  readonly form: 'whole' | 'text' | 'pictures';
  readonly onLeave: PlayedSetting['onLeave'];
  readonly keepsUp: boolean;
  /** In bytes: how much memory there is for a response. */
  readonly memory: number;
  readonly clientDeadline: number;
  /** There are slots for draining. */
  readonly drains: boolean;
}

const setting: fc.Arbitrary<Setting> = fc.record({
  form: fc.constantFrom('whole' as const, 'text', 'pictures'),
  onLeave: fc.constantFrom('cancel' as const, 'drain', 'finish'),
  keepsUp: fc.boolean(),
  memory: fc.constantFrom(150_000, 10_000_000),
  clientDeadline: fc.constantFrom(5_000, Number.POSITIVE_INFINITY),
  drains: fc.boolean(),
});

/** The world around one attempt, and what it has seen. */
class World {
  now = 0;
  listener: UpstreamListener | null = null;
  ticks: TickListener | null = null;
  aborted = false;
  hasHead = false;
  /** The call has ended or broken. */
  isOver = false;
  /** For draining, that are taken. */
  slots = 0;
  /** In bytes of a response, as memory is held for it. */
  reserved = 100_000;
  readonly defects: unknown[] = [];
  readonly written: string[] = [];
  #drained: () => void = () => {};
  #left: () => void = () => {};
  readonly setting: Setting;
  readonly client;
  readonly call = {
    isSent: false,
    pause: () => {},
    resume: () => {},
    abort: () => void (this.aborted ||= !this.isOver),
  };
  readonly sink: StreamSink;
  readonly options: PlayedSetting;

  constructor(setting: Setting) {
    this.setting = setting;
    const { written } = this;
    const client = {
      headSent: false,
      halfClosed: false,
      disconnected: false,
      failedWith: null as GatewayError | null,
      fail: (error: GatewayError) => {
        if (client.disconnected || client.headSent) return;
        client.failedWith = error;
        this.leave();
      },
      onDrain: (listener: () => void) => void (this.#drained = listener),
      onDisconnect: (listener: () => void) => void (this.#left = listener),
      start: () => void (client.headSent = true),
      write: (bytes: Buffer | string) => {
        written.push(String(bytes));
        return setting.keepsUp;
      },
      end: () => {},
    };
    this.client = client;
    this.sink = new StreamSink(client, chat, createFraming('event-stream'), () => this.now);
    const places = createDrainSlots(setting.drains ? 20 : 1);
    const drains = {
      take: () => {
        const isTaken = setting.drains && places.take();
        if (isTaken) this.slots += 1;
        return isTaken;
      },
      release: () => void (this.slots -= 1),
    };
    this.options = {
      upstream: {
        send: (_request, listener) => {
          this.listener = listener;
          return this.call;
        },
        close: async () => {},
      },
      client,
      ticker: {
        add: (listener) => {
          this.ticks = listener;
          return { end: () => void (this.ticks = null) };
        },
      },
      monotonic: () => this.now,
      onLeave: setting.onLeave,
      drains,
      deadline: 300_000,
      clientDeadline: setting.clientDeadline,
      memory: {
        tryResponse: (bytes: number) => {
          if (bytes > setting.memory) return false;
          this.reserved = bytes;
          return true;
        },
        refuse: () => new GatewayError('overloaded'),
      } as never,
      reservedBytes: this.reserved,
      onDefect: (error) => this.defects.push(error),
    };
  }

  onDisconnect(listener: () => void): void {
    this.#left = listener;
  }

  leave(): void {
    if (this.client.disconnected) return;
    this.client.disconnected = true;
    this.#left();
  }

  drained(): void {
    this.#drained();
  }
}

function start(world: World) {
  const { sink, options, setting } = world;
  const { monotonic, deadline } = options;
  const shared = { sink, monotonic, keepAliveMs: 15_000, onFirstContent: () => {} };
  switch (setting.form) {
    case 'whole': {
      const read = (body: Buffer) => chat.readResponse(body, echo);
      return startAttempt(new WholeResponse({ largest, read }), options);
    }
    case 'text': {
      const receiver = new TextEvents({
        ...shared,
        context: { ...echo, usageInjected: false },
        headers: {},
        reader: {
          protocol: chat,
          wire: chat,
          stream: (body) => streamOf(body, chat, 'm'),
          record: () => {},
        },
        spending: null,
        onShown: () => {},
        onDefect: options.onDefect,
      });
      return startAttempt(receiver, options);
    }
    case 'pictures': {
      const names = images.eventNamesFor('generation', {});
      const receiver = new ImageStream({
        ...shared,
        events: images,
        tap: images.createStreamTap({ ...echo, names, accepts: () => true }),
        meter: {
          accepts: () => true,
          measure: () => ({ ...nothingUsed, source: 'reported' }),
          unitsOf: ({ entries }) => ({ images: entries.length }),
        },
        reader: {
          largest,
          read: (body) => ({ ...images.readResponse(body, echo), measuredUsage: nothingUsed }),
        },
        deadline,
        headers: () => ({}),
      });
      return startAttempt(receiver, options);
    }
  }
}

/** In bytes of a whole response. */
const largest = 250_000;

/** Plays the steps as an upstream, a client and a clock may take them: nothing of a call comes after its end. */
async function play(world: World, steps: readonly Step[]) {
  for (const step of steps) {
    const listener = world.isOver || world.aborted ? null : world.listener;
    try {
      playStep(world, listener, step);
    } catch (error) {
      // As the upstream's client does.
      world.defects.push(error);
      world.isOver = true;
      listener?.onBreak(new UpstreamError('started', 'defect', error));
    }
    // What is read in turns takes some.
    for (let turn = 0; turn < 6; turn += 1) await nextTurn();
  }
}

function playStep(world: World, listener: UpstreamListener | null, step: Step): void {
  switch (step.kind) {
    case 'head':
      if (listener === null || world.hasHead) return;
      world.hasHead = true;
      world.call.isSent = true;
      return listener.onHead(step.status, step.type === null ? {} : { 'content-type': step.type });
    case 'data':
      if (world.hasHead) listener?.onData(Buffer.from(step.text));
      return;
    case 'end':
      if (listener === null || !world.hasHead) return;
      world.isOver = true;
      return listener.onEnd();
    case 'break':
      if (listener === null || world.hasHead !== (step.point === 'started')) return;
      world.isOver = true;
      world.call.isSent ||= step.point !== 'not-sent';
      return listener.onBreak(new UpstreamError(step.point, step.reason, null));
    case 'tick':
      world.now += step.ms;
      return world.ticks?.tick(world.now);
    case 'leave':
      return world.leave();
    case 'stop':
      return world.ticks?.end(new GatewayError('unavailable'));
    case 'drain':
      return world.drained();
    case 'sent':
      world.call.isSent = true;
  }
}

const over: Step = { kind: 'tick', ms: 600_000 };

test('an attempt ends once, releases what it holds, and is over by its deadline', async () => {
  await fc.assert(
    fc.asyncProperty(setting, fc.array(anyStep, { maxLength: 14 }), async (given, steps) => {
      const world = new World(given);
      const attempt = start(world);
      if (given.form !== 'whole') world.onDisconnect(() => attempt.clientDisconnected());
      let ends = 0;
      void attempt.outcome.then(() => (ends += 1));
      await play(world, steps);
      // The deadline, and the time for the end of a body.
      await play(world, [over, over]);
      expect(ends).toBe(1);
      expect(world.ticks).toBeNull();
      expect(world.slots).toBe(0);
      expect(world.defects).toEqual([]);
      const outcome = await attempt.outcome;
      // No call outlives its attempt.
      expect(world.isOver || world.aborted || outcome.kind === 'complete').toBe(true);
      // A failure lets another channel try, so the client cannot have seen any of this one.
      if (outcome.kind === 'failed') expect(world.sink.isShown).toBe(false);
      if (outcome.kind === 'broken') expect(world.sink.isShown).toBe(true);
      if (outcome.kind === 'failed' && outcome.result === 'no-memory') {
        expect(world.reserved).toBe(0);
      }
    }),
    { seed: 51, numRuns: 1_000 },
  );
});
