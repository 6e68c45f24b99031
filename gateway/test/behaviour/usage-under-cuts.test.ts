import { describe, expect, test } from 'vitest';
import {
  ask,
  askRaw,
  describeChannels,
  only,
  openGateway,
  rowOf,
  shareGateway,
  until,
} from './support.ts';
import { type TextProtocol, textProtocols } from './text-protocols.ts';

/** The recorded usage of responses without counts, or without an end. */
const shared = shareGateway({
  config: describeChannels([
    { name: 'plain', models: ['demo-chat'] },
    { name: 'charging', models: ['charging -> demo-chat'], more: ['bills_after_cancel: true'] },
  ]),
});
const nothing = {
  input: 0,
  cache_read: 0,
  cache_write: 0,
  cache_write_1h: 0,
  output: 0,
  reasoning: 0,
};
/** Four bytes of the request's body are a token. */
const estimatedInput = (protocol: TextProtocol, stream: boolean) =>
  Math.ceil(JSON.stringify(protocol.body('demo-chat', stream)).length / 4);
const idOf = (received: string) => /x-request-id: (req_\S+)/i.exec(received)?.[1];

describe.each(textProtocols)('$name', (protocol) => {
  describe.each([false, true])('streamed: %s', (stream) => {
    const askWith = (fault: string) =>
      ask(shared.gateway, protocol, stream, 'demo-chat', { 'x-simulator-fault': fault });

    test('a response without usage is estimated', async () => {
      const response = await askWith('usage=missing');
      expect(response.status).toBe(200);
      const row = await rowOf(shared.gateway, response.id);
      expect(row).toMatchObject({ outcome: 'completed', estimated: true });
      expect(row.tokens.input).toBe(estimatedInput(protocol, stream));
      // Four characters are a token: the simulator's sentence has 84.
      expect(row.tokens.output).toBeGreaterThan(15);
      expect(row.tokens.output).toBeLessThan(30);
    });

    test('an explicit zero is zero', async () => {
      const response = await askWith('usage=zero');
      expect(await rowOf(shared.gateway, response.id)).toMatchObject({
        outcome: 'completed',
        estimated: false,
        tokens: nothing,
      });
    });

    test('an upstream that breaks off costs the client nothing', async () => {
      const response = await askWith(stream ? 'events=20;cut-at=12' : 'cut-at=1');
      const row = await rowOf(shared.gateway, response.id);
      expect(row).toMatchObject({ outcome: 'failed', estimated: false, tokens: nothing });
      if (stream && protocol.name === 'messages') {
        expect(row.attempts).toMatchObject([{ usage: { input: 2 } }]);
      }
    });
  });

  test('a client that disconnects pays the input and the output so far, and the upstream stops', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const client = await askRaw(gateway, protocol, true, 'demo-chat', [
      'x-simulator-fault: events=200;text-bytes=8000;gap=10',
    ]);
    await until(() => client.received().length > 4_000, 'some of the response has come');
    client.socket.destroy();
    await until(() => gateway.simulator.aborted() === 1, 'the upstream was cancelled', 1_000);
    const id = idOf(client.received()) ?? '';
    await until(async () => (await gateway.usage()).some((row) => row.id === id), 'its row');
    const { tokens, ...row } = await rowOf(gateway, id);
    expect(row).toMatchObject({ outcome: 'client-left', estimated: true });
    // Messages reports the input first.
    expect(tokens.input).toBe(protocol.name === 'messages' ? 2 : estimatedInput(protocol, true));
    // Four bytes of text are a token; what came was mostly framing.
    expect(tokens.output).toBeGreaterThan(5);
    expect(tokens.output).toBeLessThan(client.received().length / 4);
  });

  test('if the upstream bills the full answer after a cancel, the rest is read for its count', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const client = await askRaw(gateway, protocol, true, 'charging', [
      'x-simulator-fault: events=60;gap=10',
    ]);
    await until(() => client.received().startsWith('HTTP/1.1 200'), 'content has come');
    client.socket.destroy();
    const id = idOf(client.received()) ?? '';
    await until(async () => (await gateway.usage()).some((row) => row.id === id), 'its row');
    expect(gateway.simulator.aborted()).toBe(0);
    const whole = await ask(gateway, protocol, true, 'charging', {
      'x-simulator-fault': 'events=60',
    });
    const { tokens } = await rowOf(gateway, whole.id);
    expect(await rowOf(gateway, id)).toMatchObject({
      outcome: 'client-left',
      estimated: false,
      tokens,
    });
  });
});

describe('the operator decides about a missing count', () => {
  const config = (policy: string) => `
${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
billing: { missing_usage: ${policy} }`;

  test.each([true, false])('zero (streamed: %s)', async (stream) => {
    const gateway = await openGateway({ config: config('zero') });
    const [chat] = textProtocols;
    const response = await ask(gateway, chat!, stream, 'demo-chat', {
      'x-simulator-fault': 'usage=missing',
    });
    expect(response.status).toBe(200);
    const row = only(await gateway.usage());
    expect(row).toMatchObject({ outcome: 'completed', estimated: false, tokens: nothing });
  });

  test.each(textProtocols)('error, $name', async (protocol) => {
    const gateway = await openGateway({ config: config('error') });
    const fault = { 'x-simulator-fault': 'usage=missing' };
    const plain = await ask(gateway, protocol, false, 'demo-chat', fault);
    expect(plain.status).toBe(502);
    const streamed = await ask(gateway, protocol, true, 'demo-chat', fault);
    expect(streamed.text).toMatch(protocol.errorFrame);
    expect(streamed.text).not.toMatch(protocol.terminator);
    const rows = await gateway.usage();
    expect(rows.map(({ outcome, tokens }) => ({ outcome, tokens }))).toEqual([
      { outcome: 'failed', tokens: nothing },
      { outcome: 'failed', tokens: nothing },
    ]);
  });
});
