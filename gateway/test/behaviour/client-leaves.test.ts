import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { createRandom } from '../faults/ledger-simulation.ts';
import { askRaw, only, shareGateway, until } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

/** The same responses without `alt=sse`: one JSON array, which grows by an element at a time. */
const jsonArray: TextProtocol & { readonly label: string } = {
  ...textProtocols[3]!,
  label: 'generate-content as a JSON array',
  path: (model, stream) => textProtocols[3]!.path(model, stream).replace('?alt=sse', ''),
};
const waysOfAsking = [...textProtocols.map((each) => ({ ...each, label: each.name })), jsonArray];

const shared = shareGateway({});
/** Milliseconds: within a second, and on a machine that does other work in any case long before the response ends. */
const soon = 5_000;
/** Milliseconds from each leaving to its upstream's being cancelled. */
const waited: number[] = [];
/** A token for four bytes of the request's body. */
const estimatedInput = ({ body }: TextProtocol): number =>
  Math.ceil(JSON.stringify(body('demo-chat', true)).length / 4);
const idOf = (received: string) => /x-request-id: (req_\S+)/i.exec(received)?.[1];

describe.each(waysOfAsking)('R-18 $label: a disconnected client', (protocol) => {
  test('stops the upstream by leaving a stream', async () => {
    const { gateway } = shared;
    gateway.simulator.clear();
    const client = await askRaw(gateway, protocol, true, 'demo-chat', [
      'x-simulator-fault: events=2000;gap=20',
    ]);
    await until(
      () => client.received().startsWith('HTTP/1.1 200'),
      'the head, and so content, has come',
    );
    const left = performance.now();
    client.socket.destroy();
    await until(() => gateway.simulator.aborted() === 1, 'the upstream was cancelled', soon);
    waited.push(performance.now() - left);

    const id = idOf(client.received());
    await until(async () => (await gateway.usage()).some((row) => row.id === id), 'its row');
    const row = only((await gateway.usage()).filter((each) => each.id === id));
    expect(row).toMatchObject({ outcome: 'client-left', status: 499, channel: 'sim' });
    expect(row.attempts).toMatchObject([{ class: 'shown', status: 200, result: 'client-left' }]);
    // Messages announces its input first; the others would have counted at the end, so it is estimated.
    const announced = protocol.name === 'messages' ? 2 : estimatedInput(protocol);
    expect(row.tokens.input).toBe(announced);
    expect(row.tokens.output).toBeGreaterThan(0);
  });

  test('also stops it while the head is still held back', async () => {
    const { gateway } = shared;
    const before = (await gateway.usage()).length;
    gateway.simulator.clear();
    const client = await askRaw(gateway, protocol, true, 'demo-chat', [
      'x-simulator-fault: stall-at=0',
    ]);
    await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
    await wait(50);
    client.socket.resetAndDestroy();
    await until(() => gateway.simulator.aborted() === 1, 'the upstream was cancelled', soon);
    await until(async () => (await gateway.usage()).length === before + 1, 'its row');
    const [row] = await gateway.usage();
    expect(row).toMatchObject({
      outcome: 'client-left',
      status: 499,
      // The upstream had accepted the question and answered nothing.
      tokens: { input: estimatedInput(protocol), output: 0 },
    });
    expect(row?.attempts).toHaveLength(1);
  });

  test.each([
    ['before the upstream’s head', 'delay=15000', false],
    ['while the head is held back', 'stall-at=0;stall-ms=15000', false],
    ['while nothing flows after content', 'events=60;stall-at=12;stall-ms=15000', true],
  ])(
    'is detected %s although a clean close looks like a half-close',
    async (_when, fault, shown) => {
      const { gateway } = shared;
      const before = (await gateway.usage()).length;
      gateway.simulator.clear();
      const client = await askRaw(gateway, protocol, true, 'demo-chat', [
        `x-simulator-fault: ${fault}`,
      ]);
      await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
      if (shown) await until(() => /\r\n\r\n[^]*"/.test(client.received()), 'content has come');
      await wait(50);
      client.socket.destroy();
      await until(() => gateway.simulator.aborted() === 1, 'the upstream was cancelled', soon);
      await until(async () => (await gateway.usage()).length === before + 1, 'its row');
      const [row] = await gateway.usage();
      expect(row).toMatchObject({ outcome: 'client-left', status: 499 });
      expect(row?.attempts).toMatchObject([{ class: shown ? 'shown' : expect.anything() }]);
    },
  );

  test('R-20 a half-closed client waits through keep-alives for the whole response', async () => {
    const { gateway } = shared;
    const client = await askRaw(gateway, protocol, true, 'demo-chat', [
      'x-simulator-fault: delay=1500',
      'connection: close',
    ]);
    client.socket.end();
    await until(() => client.received().startsWith('HTTP/1.1 200'), 'the head, early');
    expect(client.received()).not.toContain('You said');
    await client.ended;
    expect(client.received()).toMatch(protocol.terminator);
    expect(client.received()).toContain('You said');
    const row = only((await gateway.usage()).filter(({ id }) => id === idOf(client.received())));
    expect(row.outcome).toBe('completed');
  });

  test('R-19 a non-streaming response is drained and recorded', async () => {
    const { gateway } = shared;
    const before = (await gateway.usage()).length;
    gateway.simulator.clear();
    const client = await askRaw(gateway, protocol, false, 'demo-chat', [
      'x-simulator-fault: delay=400',
    ]);
    await until(() => gateway.simulator.requests().length === 1, 'the upstream was asked');
    client.socket.destroy();
    await until(async () => (await gateway.usage()).length === before + 1, 'its row');
    expect(gateway.simulator.aborted()).toBe(0);
    const [row] = await gateway.usage();
    expect(row).toMatchObject({
      outcome: 'completed',
      status: 200,
      tokens: { input: 2, output: 21 },
    });
  });

  test.each([true, false])(
    'R-20 a client that only closes its sending side gets the response (streamed: %s)',
    async (stream) => {
      const { gateway } = shared;
      const client = await askRaw(gateway, protocol, stream, 'demo-chat', [
        'x-simulator-fault: delay=200',
        'connection: close',
      ]);
      client.socket.end();
      await client.ended;
      expect(client.received()).toMatch(/^HTTP\/1\.1 200 /);
      expect(client.received()).toContain('You said');
      const row = only((await gateway.usage()).filter(({ id }) => id === idOf(client.received())));
      expect(row.outcome).toBe('completed');
    },
  );
});

test('R-18 upstream calls of disconnected clients usually end within a second', () => {
  expect(waited).toHaveLength(waysOfAsking.length);
  expect(waited.filter((each) => each <= 1_000).length).toBeGreaterThan(waysOfAsking.length / 2);
});

test('R-18 after a hundred clients disconnected at random nothing is open and every request has its row', async () => {
  const { gateway } = shared;
  const before = (await gateway.usage()).length;
  gateway.simulator.clear();
  const random = createRandom(19);
  await Promise.all(
    Array.from({ length: 100 }, async (_, index) => {
      const protocol = waysOfAsking[index % waysOfAsking.length]!;
      const client = await askRaw(
        gateway,
        protocol,
        true,
        'demo-chat',
        ['x-simulator-fault: events=2000;gap=10'],
        `n${index}`,
      );
      await wait(50 + random() * 500);
      client.socket.destroy();
    }),
  );
  await until(async () => (await gateway.usage()).length === before + 100, 'a row each', 15_000);
  // Requests that had reached the upstream were cancelled there; none continues.
  await until(
    () => gateway.simulator.requests().every(({ finished, clientLeft }) => finished || clientLeft),
    'no upstream request is under way',
    soon,
  );
  const rows = (await gateway.usage()).slice(0, 100);
  expect(new Set(rows.map(({ id }) => id)).size).toBe(100);
  expect(rows.every(({ outcome, status }) => outcome === 'client-left' && status === 499)).toBe(
    true,
  );
});
