import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { scrape, valueOf } from '../observability/support.ts';
import { largeResponseBytes } from '../support/large-response.ts';
import { isLong } from '../support/runs.ts';
import {
  ask,
  askRaw,
  describeChannels,
  only,
  openGateway,
  rawPost,
  sendRaw,
  shareGateway,
  until,
} from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

const options = {
  config: describeChannels([
    { name: 'sim', models: ['demo-chat'] },
    { name: 'gemini', models: ['by-gemini -> demo-chat'], protocols: ['generate-content'] },
    { name: 'chat', models: ['by-chat -> demo-chat'], protocols: ['chat'] },
  ]),
};
const shared = shareGateway(options);
/** Two such responses are all that the balance pays for. */
const sharedByConverted = shareGateway(options);
const events = 4_000;
const responseBytes = largeResponseBytes;
/** The same within the bound of a response that is held whole. One connection is in its way. */
const wholeBytes = 48 * 2 ** 20;

/** Messages answers are capped by the simulated vendor, and a response's last event repeats all of its text. */
const boundless = textProtocols.filter(
  ({ name }) => name === 'chat' || name === 'generate-content',
);

const passed = boundless.map((protocol) => ({
  protocol,
  model: 'demo-chat',
  name: protocol.name,
  at: shared,
}));
/** The output limit for such a long response. */
const messages: TextProtocol = {
  ...textProtocols[2]!,
  body: (model, stream) => ({
    ...textProtocols[2]!.body(model, stream),
    max_tokens: responseBytes,
  }),
};
const converted = [
  {
    protocol: textProtocols[0]!,
    model: 'by-gemini',
    name: 'chat of generate-content',
    at: sharedByConverted,
  },
  { protocol: messages, model: 'by-chat', name: 'messages of chat', at: sharedByConverted },
];

/** Native and converted; which protocol it is makes no difference to what waits for a client. */
const everyWay = isLong ? [...passed, ...converted] : [passed[0]!, converted[1]!];

describe.each(everyWay)('R-17 $name: a slow client', ({ protocol, model, at }) => {
  // Beside other tests, what takes five seconds alone has taken more than twenty.
  test(
    'a client that does not read pauses the upstream; memory stays bounded, nothing is lost',
    { timeout: 90_000 },
    async () => {
      const { gateway } = at;
      gateway.simulator.clear();
      const client = await askRaw(gateway, protocol, true, model, [
        `x-simulator-fault: gap=0;events=${events};text-bytes=${responseBytes}`,
        'connection: close',
      ]);
      client.socket.pause();
      const sent = () => gateway.simulator.requests()[0]?.eventsSent ?? 0;
      let whilePaused = 0;
      // Buffers along the way fill up; then nothing moves, so nothing is hoarding the rest.
      while (whilePaused === 0 || sent() !== whilePaused) {
        whilePaused = sent();
        await wait(700);
      }
      expect(whilePaused).toBeLessThan(events / 2);

      client.socket.resume();
      await client.ended;
      const text = client.received();
      expect(text).toMatch(protocol.terminator);
      expect(text.length).toBeGreaterThan(responseBytes);
      const id = /x-request-id: (req_\S+)/i.exec(text)?.[1];
      expect(only((await gateway.usage()).filter((row) => row.id === id))).toMatchObject({
        outcome: 'completed',
      });
    },
  );
});

describe.each(isLong ? boundless : boundless.slice(0, 1))(
  'R-17 R-21 $name: a stalled client',
  (protocol) => {
    const big = (fault: string, bytes = wholeBytes) =>
      `x-simulator-fault: ${fault};text-bytes=${bytes}`;

    test('a client that accepts nothing for too long is cut off, and its upstream is cancelled', async () => {
      const gateway = await openGateway({
        writeStall: 600,
        config: `${describeChannels([{ name: 'sim', models: ['demo-chat'] }])}
limits: { in_flight: 1, queue: 1, key_concurrency: 9 }
`,
      });
      const client = await askRaw(gateway, protocol, true, 'demo-chat', [
        big(`gap=0;events=${events}`, responseBytes),
      ]);
      const startedAt = performance.now();
      client.socket.pause();
      await until(() => gateway.simulator.aborted() === 1, 'the upstream was cancelled', 15_000);
      expect(performance.now() - startedAt).toBeGreaterThan(600);
      await until(async () => (await gateway.usage()).length === 1, 'its row');
      expect(only(await gateway.usage())).toMatchObject({ outcome: 'client-left', status: 499 });
      // The one place there is has been given back.
      expect((await ask(gateway, protocol, false)).status).toBe(200);
    });

    test('a client is also cut off after everything was written: no response stays in memory forever', async () => {
      const gateway = await openGateway({ writeStall: 600 });
      const client = await askRaw(gateway, protocol, false, 'demo-chat', [big('gap=0')]);
      client.socket.pause();
      await until(async () => (await gateway.usage()).length === 1, 'its row', 15_000);
      // That of the question itself is left.
      await until(
        async () => valueOf(await scrape(gateway.url), 'sluice_open_connections') === 1,
        'its connection was cut',
        15_000,
      );
      client.socket.resume();
      await client.ended;
      expect(client.received()).toMatch(/^HTTP\/1\.1 200 /);
      expect(client.received().length).toBeLessThan(wholeBytes);
    });

    test('a slow reader is served, and its connection remains usable', async () => {
      const gateway = await openGateway({ writeStall: 600 });
      const request = (stream: boolean, headers: readonly string[]) =>
        rawPost(protocol.path('demo-chat', stream), protocol.body('demo-chat', stream), headers);
      const client = await sendRaw(gateway.url, request(true, [big(`gap=0;events=${events}`)]));
      let reading = true;
      const breathe = setInterval(() => {
        reading = !reading;
        if (reading) client.socket.resume();
        else client.socket.pause();
      }, 300);
      try {
        await until(() => protocol.terminator.test(client.latest(2_000)), 'its end', 20_000);
      } finally {
        clearInterval(breathe);
        client.socket.resume();
      }
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      client.socket.write(request(false, ['connection: close']));
      await client.ended;
      expect(client.latest(5_000)).toMatch(/HTTP\/1\.1 200 [^]*You said/);
    }, 30_000);
  },
);
