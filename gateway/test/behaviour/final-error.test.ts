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
import { eachCall, textProtocols } from './text-protocols.ts';

const resetting = await openResettingUpstream();
const dead = `http://127.0.0.1:${await closedPort()}`;
const rateLimited = { status: 429, message: 'quota exhausted, please retry later' };
const overloaded = { status: 529, message: 'service overloaded, please retry later' };
const abnormal = { status: 502, message: 'upstream response abnormal' };
const refusedOnly = {
  status: 502,
  message:
    "upstream response abnormal: the provider refuses the gateway's own credential or account, and only the operator of this gateway can fix that",
};
const mixed = { status: 503, message: 'service temporarily unavailable, please try again later' };

/** One class among all attempts has its own status, several are a 503 (docs/errors.md). */
const mixes = [
  { name: 'all-429', faults: ['status=429', 'status=429'], expected: rateLimited },
  { name: 'all-529', faults: ['status=529', 'status=529'], expected: overloaded },
  { name: '503-and-529', faults: ['status=503', 'status=529'], expected: overloaded },
  { name: 'all-500', faults: ['status=500', 'status=500', 'status=500'], expected: abnormal },
  { name: '500-502-401', faults: ['status=500', 'status=502', 'status=401'], expected: abnormal },
  { name: 'all-401', faults: ['status=401', 'status=401'], expected: refusedOnly },
  { name: 'html-garbage-dead', faults: ['html', 'garbage', dead], expected: abnormal },
  { name: 'dead', faults: [dead], expected: abnormal },
  { name: 'refused', faults: [resetting], expected: abnormal },
  { name: '429-and-529', faults: ['status=429', 'status=529'], expected: mixed },
  { name: '429-and-500', faults: ['status=429', 'status=500'], expected: mixed },
  { name: '529-and-dead', faults: ['status=529', dead], expected: mixed },
  { name: '404-and-500', faults: ['status=404', 'status=500'], expected: mixed },
  { name: '429-529-500', faults: ['status=429', 'status=529', 'status=500'], expected: mixed },
  {
    name: 'all-404',
    faults: ['status=404', 'status=404'],
    expected: {
      status: 400,
      message: "model 'MODEL' is not available, please use a different model",
    },
  },
];

const cases = eachCall.flatMap(({ protocol, stream, name }) =>
  mixes.map((mix) => ({
    ...mix,
    protocol,
    stream,
    model: `${mix.name}-${name.replace(' ', '-')}`,
  })),
);
const channels: ChannelSketch[] = cases.flatMap(({ faults, model }) =>
  faults.map((fault, index) => ({
    name: `${model}-${index}`,
    at: fault.startsWith('http') ? fault : `/fault(${fault})`,
    models: [`${model} -> demo-chat`],
  })),
);
const clientFaults: ChannelSketch[] = textProtocols.flatMap(({ name }) => [
  {
    name: `strict-${name}`,
    at: '/fault(status=400)',
    models: [`strict-${name} -> demo-chat`],
    more: ['priority: 1'],
  },
  { name: `lenient-${name}`, models: [`strict-${name} -> demo-chat`] },
]);
/** Each protocol's client is converted for the first channel, and another vendor may answer. */
const misread = ['answers', 'fails'].flatMap((end) =>
  textProtocols.flatMap(({ name }): ChannelSketch[] => {
    const model = `misread-${name}-${end}`;
    const first = name === 'messages' ? 'openai' : 'anthropic';
    return [
      {
        name: `${model}-first`,
        provider: first,
        protocols: [first === 'openai' ? 'chat' : 'messages'],
        at: '/fault(status=400)/v1',
        models: [`${model} -> demo-chat`],
        more: ['priority: 1', 'api_key: sk-first'],
      },
      {
        name: `${model}-second`,
        at: end === 'answers' ? '' : '/fault(status=500)',
        models: [`${model} -> demo-chat`],
      },
    ];
  }),
);
const four: ChannelSketch[] = [0, 1, 2, 3].map((index) => ({
  name: `four-${index}`,
  at: '/fault(status=500)',
  models: ['four -> demo-chat'],
}));
const silent: ChannelSketch[] = [0, 1, 2].map((index) => ({
  name: `silent-${index}`,
  at: resetting,
  models: ['silent -> demo-chat'],
}));

const shared = shareGateway({
  config: describeChannels([...channels, ...clientFaults, ...misread, ...four, ...silent]),
});

describe.each(eachCall)(
  'R-07 $name: the error when every channel failed',
  ({ protocol, stream }) => {
    const own = cases.filter((each) => each.protocol === protocol && each.stream === stream);

    test.concurrent.each(own)('$name', async ({ model, faults, expected }) => {
      const response = await ask(shared.gateway, protocol, stream, model);
      const message = protocol.errorMessage(JSON.parse(response.text));
      expect({
        status: response.status,
        message: message.replace(model, 'MODEL').replace(/\. Please retry in \d+s\.$/, ''),
      }).toEqual(expected);
      expect(response.headers.get('content-type')).toBe('application/json');
      expect(response.headers.has('retry-after')).toBe([429, 503].includes(expected.status));
      expect(response.headers.get('x-should-retry')).toBe(
        expected === refusedOnly || expected.status === 400 ? 'false' : null,
      );
      expect(response.text).not.toContain('CANARY');

      const row = await rowOf(shared.gateway, response.id);
      expect(row).toMatchObject({ outcome: 'failed', status: expected.status, channel: null });
      expect(row.tokens).toMatchObject({ input: 0, output: 0 });
      expect(row.attempts).toHaveLength(faults.length);
    });
  },
);

test.each(textProtocols)(
  '$name: the client’s own 400 is returned at once, without another attempt',
  async (protocol) => {
    const model = `strict-${protocol.name}`;
    const response = await ask(shared.gateway, protocol, false, model);
    expect(response.status).toBe(400);
    expect(protocol.errorMessage(JSON.parse(response.text))).toMatch(
      /^the model rejected the request/,
    );
    expect(response.headers.get('x-should-retry')).toBe('false');
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({ outcome: 'failed', status: 400 });
    expect(attemptsOf(row).map(({ channel }) => channel)).toEqual([model]);
  },
);

test.each(eachCall)(
  '$name: an unexplained 400 of a converted request may be the conversion’s fault',
  async ({ protocol, stream }) => {
    const ends = [];
    for (const end of ['answers', 'fails']) {
      const model = `misread-${protocol.name}-${end}`;
      const response = await ask(shared.gateway, protocol, stream, model);
      const row = await rowOf(shared.gateway, response.id);
      expect(attemptsOf(row)).toMatchObject([
        { channel: `${model}-first`, status: 400, result: 'upstream_rejected' },
        { channel: `${model}-second` },
      ]);
      ends.push([response.status, row.outcome, row.channel?.slice(model.length + 1)]);
    }
    expect(ends).toEqual([
      [200, 'completed', 'second'],
      [400, 'failed', 'first'],
    ]);
  },
);

test('at most three channels are tried', async () => {
  const response = await ask(shared.gateway, textProtocols[0]!, false, 'four');
  expect(response.status).toBe(502);
  expect((await rowOf(shared.gateway, response.id)).attempts).toHaveLength(3);
});

test('R-04: a request without any response is retried once, not twice', async () => {
  const response = await ask(shared.gateway, textProtocols[0]!, false, 'silent');
  expect(response.status).toBe(502);
  const row = await rowOf(shared.gateway, response.id);
  expect(attemptsOf(row).map((attempt) => attempt.class)).toEqual(['uncertain', 'uncertain']);
});
