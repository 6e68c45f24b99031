import { expect, test } from 'vitest';
import { ask, attemptsOf, describeChannels, loadWith, rowOf, shareGateway } from './support.ts';
import { eachCall, textProtocols } from './text-protocols.ts';

/* R-22 `timeouts.total`: what comes too slowly is ended, however alive it is. */

/** Content has to come within it, on a machine that is busy with other tests. */
const trickleMs = 2_000;
const unshownMs = 500;

/**
 * Requests without visible output so far: no head, or the head with half of a whole response or nothing of a streamed
 * one.
 */
const unshown = eachCall.flatMap(({ protocol, stream, name }) => [
  { name, protocol, stream, fault: 'delay=30000', class: 'uncertain', status: null },
  {
    name,
    protocol,
    stream,
    fault: stream ? 'stall-at=0' : 'stall-at=1',
    class: 'started',
    status: 200,
  },
]);

/** Each case has channels of its own, so that none is passed over for the failures of another. */
const modelOf = (name: string, fault: string): string => `${name} ${fault}`.replaceAll(/\W/g, '-');
const models = [
  { model: 'patient', totalMs: 60_000 },
  ...textProtocols.map(({ name }) => ({ model: modelOf(name, 'trickle'), totalMs: trickleMs })),
  ...unshown.map(({ name, fault }) => ({ model: modelOf(name, fault), totalMs: unshownMs })),
];

const shared = shareGateway({
  config: describeChannels(
    models.flatMap(({ model, totalMs }) =>
      ['first', 'second'].map((place, index) => ({
        name: `${place}-${model}`,
        models: [`${model} -> demo-chat`],
        more: [`priority: ${9 - index}`, `timeouts: { total: ${totalMs}ms }`],
      })),
    ),
  ),
});

loadWith(shared, 'patient');

test.concurrent.each(textProtocols)(
  '$name: a slow stream is cut with an error frame and without a terminator',
  async (protocol) => {
    const model = modelOf(protocol.name, 'trickle');
    const startedAt = performance.now();
    const response = await ask(shared.gateway, protocol, true, model, {
      // A minute of it.
      'x-simulator-fault': 'events=1200;gap=50',
    });
    const elapsed = performance.now() - startedAt;
    expect(elapsed).toBeGreaterThan(trickleMs - 10);
    expect(response.status).toBe(200);
    expect(response.text).not.toMatch(protocol.terminator);
    expect(response.text.match(new RegExp(protocol.errorFrame, 'gm'))).toHaveLength(1);
    expect(response.text.trimEnd().split('\n\n').at(-1)).toMatch(protocol.errorFrame);
    const row = await rowOf(shared.gateway, response.id);
    // What the client received is charged, as if it had left then.
    expect(row).toMatchObject({ outcome: 'client-left', estimated: true });
    expect(row.tokens.output).toBeGreaterThan(0);
    expect(attemptsOf(row)).toEqual([
      { channel: `first-${model}`, class: 'shown', status: 200, result: 'deadline' },
    ]);
  },
);

test.concurrent.each(unshown)(
  '$name, $fault: the client gets the protocol’s error, and no other channel is tried without time left',
  async ({ name, protocol, stream, fault, ...attempt }) => {
    const model = modelOf(name, fault);
    const response = await ask(shared.gateway, protocol, stream, model, {
      'x-simulator-fault': fault,
    });
    expect(response.status).toBe(502);
    expect(protocol.errorMessage(JSON.parse(response.text))).toBe('upstream response abnormal');
    const row = await rowOf(shared.gateway, response.id);
    expect(row).toMatchObject({ outcome: 'failed', status: 502, tokens: { input: 0, output: 0 } });
    expect(attemptsOf(row)).toEqual([
      { channel: `first-${model}`, ...attempt, result: 'deadline' },
    ]);
  },
);
