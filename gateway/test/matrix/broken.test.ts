import { describe, expect, test } from 'vitest';
import { ask, attemptsOf, rowOf, shareGateway } from '../behaviour/support.ts';
import { textProtocols } from '../behaviour/text-protocols.ts';
import { testKey } from '../support/gateway.ts';
import { describeServed, pairs, protocolNames } from './gateway.ts';

/** Every test breaks a channel of its own: faults count against a channel. */
const shared = shareGateway({
  config: describeServed(
    pairs.flatMap(({ client, upstream }) => {
      const name = `${client.name}-${upstream}`;
      const other = protocolNames.find((each) => each !== client.name && each !== upstream)!;
      const served = (kind: string, ...protocols: string[]) => ({
        name: `${kind}-${name}`,
        protocols,
        models: [[`${kind}-${name}`, 'demo-chat']] as const,
      });
      const first = { more: { priority: 1 } };
      return [
        ...['cut', 'close', 'error', 'left'].map((kind) => served(kind, upstream)),
        { ...served('busy', upstream), ...first, at: '/fault(status=529)' },
        { ...served('busy', other), name: `spare-${name}` },
        { ...served('fails', upstream), ...first, at: '/fault(error-first)' },
        { ...served('fails', client.name), name: `native-${name}` },
      ];
    }),
  ),
});

describe.each(pairs)('$name', ({ client, upstream }) => {
  const name = `${client.name}-${upstream}`;
  const speaker = textProtocols.find((each) => each.name === upstream)!;
  const shownEvents = speaker.eventsBeforeContent + 2;

  test.each([
    ['cut', `cut-at=${shownEvents}`],
    ['close', `close-at=${shownEvents}`],
    ['error', `error-at=${shownEvents}`],
  ])(
    'R-12 R-13 K27 %s in mid-stream: the client’s error frame, no terminator',
    async (kind, fault) => {
      const answer = await ask(shared.gateway, client, true, `${kind}-${name}`, {
        'x-simulator-fault': `events=5;gap=2;${fault}`,
      });
      expect(answer.status).toBe(200);
      expect(answer.text).toContain('This is');
      expect(answer.text).not.toMatch(client.terminator);
      expect(answer.text.match(new RegExp(client.errorFrame, 'gm'))).toHaveLength(1);
      expect(answer.text.trimEnd().split('\n\n').at(-1)).toMatch(client.errorFrame);
      expect(answer.text).not.toContain('CANARY');
      const row = await rowOf(shared.gateway, answer.id);
      expect(row).toMatchObject({ outcome: 'failed', channel: `${kind}-${name}` });
      expect(row.tokens).toMatchObject({ input: 0, output: 0 });
    },
  );

  test.each([true, false])(
    'R-11 an overloaded channel is passed over, stream %s',
    async (stream) => {
      const answer = await ask(shared.gateway, client, stream, `busy-${name}`);
      expect(answer.status).toBe(200);
      expect(answer.text).toMatch(/You/);
      const row = await rowOf(shared.gateway, answer.id);
      expect(row).toMatchObject({ outcome: 'completed', channel: `spare-${name}` });
    },
  );

  test('K39 a stream that fails before its content goes to a channel of the client’s own', async () => {
    const answer = await ask(shared.gateway, client, true, `fails-${name}`);
    expect(answer.text).toMatch(client.terminator);
    expect(answer.text).not.toMatch(client.errorFrame);
    const row = await rowOf(shared.gateway, answer.id);
    expect(attemptsOf(row)).toMatchObject([
      { channel: `fails-${name}`, class: 'started' },
      { channel: `native-${name}`, result: 'completed' },
    ]);
  });

  test('K35 a client that leaves stops the upstream and pays for what had come', async () => {
    const { url, simulator, usage } = shared.gateway;
    const model = `left-${name}`;
    const leaving = new AbortController();
    const response = await fetch(url + client.path(model, true), {
      method: 'POST',
      signal: leaving.signal,
      headers: {
        authorization: `Bearer ${testKey}`,
        'content-type': 'application/json',
        'x-simulator-fault': 'events=500;gap=10',
      },
      body: JSON.stringify(client.body(model, true)),
    });
    const id = response.headers.get('x-request-id');
    const reader = response.body!.getReader();
    for (let read = 0; read < 4; read += 1) await reader.read();
    leaving.abort();
    await expect
      .poll(
        () =>
          simulator
            .requests()
            .filter(({ clientLeft }) => clientLeft)
            .at(-1)?.body ?? '',
        { timeout: 3000 },
      )
      .toMatch(/hello/);
    await expect
      .poll(async () => (await usage()).find((row) => row.id === id)?.outcome, { timeout: 3000 })
      .toBe('client-left');
    const row = await rowOf(shared.gateway, id ?? '');
    expect(row.tokens.output).toBeGreaterThan(0);
    expect(row.tokens.output).toBeLessThan(500);
  });
});
