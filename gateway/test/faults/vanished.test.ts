import { expect, test } from 'vitest';
import { sendRaw, until } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { startGatewayPlace } from '../support/gateway-place.ts';
import { cannotLosePackets, losePackets } from '../support/packet-loss.ts';
import { askChat, secret } from '../workers/workplace.ts';

/** With the real times, which only `npm run test:sieges` waits for; `http/vanished-clients.test.ts` has the short form. */
const isPatient = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
const [chat] = textProtocols;

test.skipIf(!isPatient || cannotLosePackets !== null).each([
  ['a stream that says nothing', 'stall-at=3'],
  ['a slow stream', 'events=3000;gap=500;text-bytes=300000'],
  ['a fast stream', 'events=100000;gap=1;text-bytes=30000000'],
] as const)(
  `R-21 if a client’s packets are lost in %s, its slot is free within 90 s ${cannotLosePackets ?? ''}`,
  { timeout: 150_000 },
  async (_name, fault) => {
    const { url, simulator } = await startGatewayPlace({
      config: `
timeouts: { first_byte: 20m, stream_idle: 20m }
limits: { in_flight: 1, queue: 1, key_concurrency: 9 }
channels:
  - { name: sim, provider: simulator, base_url: SIMULATOR, protocols: [chat], models: [demo-chat] }
users: [{ email: tester@example.com, balance: 100 }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
    });
    const body = JSON.stringify(chat!.body('demo-chat', true));
    const client = await sendRaw(
      url,
      [
        `POST ${chat!.path('demo-chat', true)} HTTP/1.1`,
        'host: x',
        `authorization: Bearer ${secret}`,
        'content-type: application/json',
        `x-simulator-fault: ${fault}`,
        `content-length: ${body.length}`,
        '',
        body,
      ].join('\r\n'),
    );
    await until(() => simulator.requests().length === 1, 'it is asked');
    await until(() => client.received().includes('data: '), 'it has begun');
    losePackets(client.socket.localPort ?? 0);
    // Refused or waiting until then.
    await until(async () => (await askChat(url)).status === 200, 'the slot is free', 120_000);
    expect(simulator.aborted()).toBe(1);
  },
);
