import { describe, expect, test } from 'vitest';
import {
  ask,
  attemptsOf,
  closedPort,
  describeChannels,
  openResettingUpstream,
  rowOf,
  type ChannelSketch,
  shareGateway,
} from './support.ts';
import { answeredText, eachCall, type TextProtocol } from './text-protocols.ts';

interface BadChannel {
  readonly name: string;
  readonly at: (protocol: TextProtocol) => string;
  /** Class of the attempt on the bad channel. */
  readonly class: string;
  readonly status: number | null;
  readonly result: string | RegExp;
  readonly only?: 'streamed' | 'whole';
}

/** A word with which servers say that a response broke off. */
const brokenEnding: Readonly<Record<string, string>> = {
  chat: 'abort',
  responses: 'failed',
  messages: 'error',
  'generate-content': 'MISSING_THOUGHT_SIGNATURE',
};

const fault = (text: string) => () => `/fault(${text})`;
const resetting = await openResettingUpstream();
const dead = `http://127.0.0.1:${await closedPort()}`;

const badChannels: readonly BadChannel[] = [
  { name: 'dead', at: () => dead, class: 'not-sent', status: null, result: 'connect' },
  { name: 'reset', at: () => resetting, class: 'uncertain', status: null, result: 'reset' },
  {
    name: 'stall',
    at: fault('stall'),
    class: 'uncertain',
    status: null,
    result: 'first-byte-timeout',
  },
  ...[500, 502, 504, 418].map((status) => ({
    name: `status-${status}`,
    at: fault(`status=${status}`),
    class: 'started',
    status,
    result: 'abnormal',
  })),
  ...([401, 402, 403] as const).map((status) => ({
    name: `status-${status}`,
    at: fault(`status=${status}`),
    class: 'started',
    status,
    result: status === 403 ? 'model-refused' : 'credential-refused',
  })),
  ...[503, 529].map((status) => ({
    name: `status-${status}`,
    at: fault(`status=${status}`),
    class: 'started',
    status,
    result: 'overloaded',
  })),
  {
    name: 'ending',
    at: ({ name }) => `/fault(ending=${brokenEnding[name]})`,
    class: 'started',
    status: null,
    result: /^ending=/,
    only: 'whole',
  },
  {
    name: 'unknown-ending',
    // The simulator has no fault for an empty text, and generate-content no need for usage.
    at: ({ name }) =>
      `/fault(ending=${name === 'generate-content' ? 'NO_IMAGE' : 'made_up'};usage=missing)`,
    class: 'started',
    status: null,
    result: /^ending=(made_up|NO_IMAGE)$/,
    only: 'whole',
  },
  {
    name: 'status-429',
    at: fault('status=429'),
    class: 'started',
    status: 429,
    result: 'rate-limited',
  },
  {
    name: 'status-404',
    at: fault('status=404'),
    class: 'started',
    status: 404,
    result: 'model-missing',
  },
  { name: 'redirect', at: fault('redirect'), class: 'started', status: 302, result: 'abnormal' },
  {
    name: 'garbage',
    at: fault('garbage'),
    class: 'started',
    status: 200,
    result: /^(unreadable|no-terminator|not-a-stream|abnormal)$/,
  },
  {
    name: 'html',
    at: fault('html'),
    class: 'started',
    status: 200,
    result: /^(unreadable|not-a-stream)$/,
  },
  {
    name: 'html-503',
    at: fault('html;status=503'),
    class: 'started',
    status: 503,
    result: 'overloaded',
  },
  {
    name: 'empty',
    at: fault('empty'),
    class: 'started',
    status: 200,
    result: /^(unreadable|no-terminator|not-a-stream)$/,
  },
  {
    name: 'error-first',
    at: fault('error-first'),
    class: 'started',
    status: 200,
    result: 'abnormal',
    only: 'streamed',
  },
  {
    name: 'overloaded-first',
    at: fault('error-first;status=529'),
    class: 'started',
    status: 200,
    result: 'overloaded',
    only: 'streamed',
  },
  {
    name: 'cut-at-head',
    at: fault('cut-at=0'),
    class: 'started',
    status: 200,
    result: /^(reset|cut)$/,
  },
  {
    name: 'close-at-head',
    at: fault('close-at=0'),
    class: 'started',
    status: 200,
    result: /^(no-terminator|unreadable|cut)$/,
  },
  {
    name: 'stall-at-head',
    at: fault('stall-at=0'),
    class: 'started',
    status: 200,
    result: 'idle-timeout',
  },
  {
    name: 'error-before-content',
    at: ({ eventsBeforeContent: n }) => `/fault(error-at=${n})`,
    class: 'started',
    status: 200,
    result: 'abnormal',
    only: 'streamed',
  },
  {
    name: 'cut-before-content',
    at: ({ eventsBeforeContent: n }) => `/fault(cut-at=${n})`,
    class: 'started',
    status: 200,
    result: /^(reset|cut)$/,
    only: 'streamed',
  },
  {
    name: 'close-before-content',
    at: ({ eventsBeforeContent: n }) => `/fault(close-at=${n})`,
    class: 'started',
    status: 200,
    result: 'no-terminator',
    only: 'streamed',
  },
  {
    name: 'cut-in-body',
    at: fault('cut-at=1'),
    class: 'started',
    status: 200,
    result: /^(reset|cut)$/,
    only: 'whole',
  },
  {
    name: 'close-early',
    at: fault('close-early'),
    class: 'started',
    status: 200,
    result: /^(reset|cut)$/,
    only: 'whole',
  },
];

const cases = eachCall.flatMap(({ protocol, stream, name }) =>
  badChannels
    .filter(({ only = null }) => only === null || only === (stream ? 'streamed' : 'whole'))
    .map((bad) => ({ ...bad, protocol, stream, model: `${bad.name}-${name.replace(' ', '-')}` })),
);

/** A model of its own per case, so that no case sees the cool-down of another. */
const channels: ChannelSketch[] = [
  ...cases.map(({ model, at, protocol }) => ({
    name: `bad-${model}`,
    at: at(protocol),
    models: [`${model} -> demo-chat`],
    more: ['priority: 10', 'timeouts: { first_byte: 300ms, stream_idle: 300ms }'],
  })),
  { name: 'good', models: cases.map(({ model }) => `${model} -> demo-chat`) },
];

const shared = shareGateway({ config: describeChannels(channels) });

describe.each(eachCall)('R-01 R-04 R-05 R-11 $name: a failing channel', ({ protocol, stream }) => {
  const own = cases.filter((each) => each.protocol === protocol && each.stream === stream);

  test.concurrent.each(own)('$name: the next channel answers', async (bad) => {
    const response = await ask(shared.gateway, protocol, stream, bad.model);
    expect(response.status).toBe(200);
    expect(stream ? protocol.terminator.test(response.text) : answeredText(response.text)).toBe(
      true,
    );
    expect(response.text).not.toMatch(protocol.errorFrame);
    expect(response.text.match(/"message_start"/g)?.length ?? 1).toBe(1);

    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({
      outcome: 'completed',
      status: 200,
      channel: 'good',
      protocol: protocol.name,
    });
    expect(row.tokens).toMatchObject({ input: 2, output: 21 });
    const [first, second, ...more] = attemptsOf(row);
    expect(more).toEqual([]);
    expect(first).toEqual({
      channel: `bad-${bad.model}`,
      class: bad.class,
      status: bad.status,
      result: expect.stringMatching(bad.result),
    });
    expect(second).toEqual({ channel: 'good', class: 'shown', status: 200, result: 'completed' });
  });
});
