import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { askRaw, describeChannels, until } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { reconcileLogs, type ClientLog } from './reconcile.ts';

/*
 * Every protocol's stream, broken before each of its events in every way a stream can break, and left by its client
 * at each of them. Then the logs of clients, gateway and upstream are laid side by side.
 */

const pieces = 6;
const ways = ['cut-at', 'close-at', 'error-at', 'client'] as const;
type Way = (typeof ways)[number];

interface Case {
  readonly protocol: TextProtocol;
  readonly way: Way;
  readonly at: number;
  readonly mark: string;
}

/** The number of events in the simulator's response, found by the first test. */
const eventsOf = new Map<string, number>();
const most = 20;

/** Channels of its own for every case, because faults count against a channel. */
const cases: readonly Case[] = textProtocols.flatMap((protocol) =>
  ways.flatMap((way) =>
    Array.from({ length: most }, (_, at) => ({
      protocol,
      way,
      at,
      mark: `${protocol.name}-${way}-${at}`,
    })),
  ),
);

let gateway: TestGateway;
const clients: ClientLog[] = [];
let resourcesBefore: ReadonlyMap<string, number>;

beforeAll(async () => {
  resourcesBefore = openResources();
  gateway = await startTestGateway({
    config: describeChannels(
      ['m', ...cases.map(({ mark }) => mark)].flatMap((model) => [
        { name: `first-${model}`, models: [`${model} -> demo-chat`], more: ['priority: 1'] },
        { name: `second-${model}`, models: [`${model} -> demo-chat`] },
      ]),
    ),
  });
});

afterAll(async () => {
  await gateway.close();
});

describe.each(textProtocols)('$name', (protocol) => {
  test('the complete response, to count its events', async () => {
    const text = await send(protocol, 'm', `${protocol.name}-whole`, '');
    const events = text.match(/^data: /gm)?.length ?? 0;
    eventsOf.set(protocol.name, events);
    expect(events).toBeGreaterThanOrEqual(pieces);
    expect(events).toBeLessThanOrEqual(most);
  });

  test.each(ways.filter((way) => way !== 'client'))('%s every event', async (way) => {
    const events = eventsOf.get(protocol.name) ?? 0;
    let replaced = 0;
    for (const { at, mark } of casesOf(protocol, way, events)) {
      const text = await send(protocol, mark, mark, `${way}=${at}`);
      const whole = protocol.terminator.test(text);
      const failed = protocol.errorFrame.test(text);
      // Exactly one of the two, whatever happened and where.
      expect({ mark, whole, failed }).toEqual({ mark, whole: !failed, failed: !whole });
      if (whole) replaced += 1;
      expect(text).not.toContain('CANARY');
    }
    // Before the first content another channel answered; at least there was something before and something after.
    expect(replaced).toBeGreaterThanOrEqual(protocol.eventsBeforeContent);
    expect(replaced).toBeLessThan(events);
  });

  test('a client that disconnects at every event', async () => {
    const events = eventsOf.get(protocol.name) ?? 0;
    const leaving = casesOf(protocol, 'client', events);
    const before = clients.length;
    await Promise.all(leaving.map(({ at, mark }) => leave(protocol, mark, at)));
    expect(clients.slice(before).filter(({ id }) => id !== null)).toHaveLength(events);
  });
});

test('clients, rows and the upstream agree', async () => {
  const rows = await gateway.usage();
  const sent = clients.length;
  expect(sent).toBeGreaterThan(150);
  expect(rows).toHaveLength(sent);
  expect(reconcileLogs(clients, rows, gateway.simulator.requests())).toEqual([]);
  for (const outcome of ['completed', 'failed', 'client-left']) {
    expect(rows.filter((row) => row.outcome === outcome).length).toBeGreaterThan(10);
  }
});

test('no request, socket or timer is left open', async () => {
  await until(
    () =>
      gateway.simulator
        .requests()
        .every(({ finished, clientLeft, fault }) => finished || clientLeft || fault !== ''),
    'no upstream request is under way',
  );
  const metrics = await (await fetch(`${gateway.url}/metrics`)).text();
  const open = metrics.split('\n').filter((line) => line.startsWith('sluice_open_exchanges{'));
  expect(open.length).toBeGreaterThan(0);
  expect(open.filter((line) => !line.endsWith(' 0'))).toEqual([]);
  await gateway.close();
  expect(gateway.errors).toEqual([]);
  // Idle connections of the client side are closed by now too.
  await until(() => leaked().length === 0, `all is closed, not ${leaked().join(', ')}`, 10_000);
  // `afterAll` closes once more: that must be harmless.
});

function casesOf(protocol: TextProtocol, way: Way, events: number): readonly Case[] {
  return cases.filter((each) => each.protocol === protocol && each.way === way && each.at < events);
}

/** Reads the response to its end. The fault hits the first channel asked, and only that. */
async function send(
  protocol: TextProtocol,
  model: string,
  mark: string,
  fault: string,
): Promise<string> {
  const response = await gateway.post(
    protocol.path(model, true),
    protocol.body(model, true, `${mark}.`),
    { 'x-simulator-fault': faultOf(mark, fault), connection: 'close' },
  );
  const text = await response.text();
  clients.push({
    mark,
    id: response.headers.get('x-request-id'),
    status: response.status,
    completed: protocol.terminator.test(text),
    left: false,
  });
  return text;
}

/** Reads as far as that event and is gone. */
async function leave(protocol: TextProtocol, mark: string, at: number): Promise<void> {
  const client = await askRaw(
    gateway,
    protocol,
    true,
    mark,
    [`x-simulator-fault: ${faultOf(mark, '')};gap=40`],
    `${mark}.`,
  );
  const seen = () => client.received().match(/^data: /gm)?.length ?? 0;
  await until(() => seen() > at || protocol.terminator.test(client.received()), `event ${at}`);
  client.socket.resetAndDestroy();
  await wait(1);
  const text = client.received();
  clients.push({
    mark,
    id: /x-request-id: (req_\S+)/i.exec(text)?.[1] ?? null,
    status: 200,
    completed: protocol.terminator.test(text),
    left: true,
  });
}

function faultOf(mark: string, fault: string): string {
  return `events=${pieces};id=${mark};${fault === '' ? '' : `${fault};times=1`}`.replace(/;$/, '');
}

function openResources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const name of process.getActiveResourcesInfo())
    counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

/** Sockets, servers and timers that did not exist before the gateway was started. */
function leaked(): string[] {
  return [...openResources()]
    .filter(([name]) => /TCP|Timeout|Immediate/.test(name))
    .filter(([name, count]) => count > (resourcesBefore.get(name) ?? 0))
    .map(([name, count]) => `${name} ${count}`);
}
