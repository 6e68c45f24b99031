import { describe, expect, test } from 'vitest';
import { ask, attemptsOf, describeChannels, rowOf, shareGateway } from './support.ts';
import { eachCall, textProtocols } from './text-protocols.ts';

/** The simulator's response has seven pieces of text; `events=` makes their number the same everywhere. */
const pieces = 5;

/** A word with which servers say that a response broke off. */
const brokenEnding: Readonly<Record<string, string>> = {
  chat: 'insufficient_system_resource',
  responses: 'cancelled',
  messages: 'error',
  'generate-content': 'MALFORMED_FUNCTION_CALL',
};

/** Every way of breaking has channels of its own: their faults count against a channel. */
const cases = textProtocols.flatMap((protocol) => {
  const afterContent = protocol.eventsBeforeContent + 1;
  const last = protocol.eventsBeforeContent + pieces - 1;
  const positions = Array.from({ length: last - afterContent }, (_, i) => afterContent + i);
  return [
    ...positions.map((at) => ({ fault: `cut-at=${at}`, result: /^(reset|cut)$/ })),
    ...positions.map((at) => ({ fault: `close-at=${at}`, result: /^no-terminator$/ })),
    { fault: `stall-at=${afterContent}`, result: /^idle-timeout$/ },
    { fault: `error-at=${afterContent}`, result: /^abnormal$/ },
    { fault: `error-at=${afterContent};status=529`, result: /^overloaded$/ },
    { fault: `error-at=${afterContent};status=429`, result: /^rate-limited$/ },
    {
      fault: `ending=${brokenEnding[protocol.name]}`,
      result: new RegExp(`^ending=${brokenEnding[protocol.name]}$`),
    },
    ...(protocol.name === 'generate-content'
      ? []
      : [{ fault: 'ending=made_up;usage=missing', result: /^ending=made_up$/ }]),
  ].map((way) => ({ ...way, protocol, model: `${protocol.name}-${way.fault}` }));
});

const shared = shareGateway({
  config: describeChannels([
    { name: 'chat', protocols: ['chat'], models: ['only-chat -> demo-chat'] },
    { name: 'messages', protocols: ['messages'], models: ['only-messages -> demo-chat'] },
    ...['m', ...cases.map(({ model }) => model)].flatMap((model) => [
      {
        name: `first-${model}`,
        models: [`${model} -> demo-chat`],
        more: ['priority: 1', 'timeouts: { stream_idle: 300ms }'],
      },
      { name: `second-${model}`, at: '/fault(status=500)', models: [`${model} -> demo-chat`] },
    ]),
  ]),
});

describe.each(textProtocols)('R-12 R-13 $name: a stream that breaks', (protocol) => {
  test.concurrent.each(cases.filter((each) => each.protocol === protocol))(
    '$fault: the client gets an error frame, no terminator, and no second channel',
    async ({ fault, result, model }) => {
      const response = await ask(shared.gateway, protocol, true, model, {
        'x-simulator-fault': `events=${pieces};gap=2;${fault}`,
      });
      expect(response.status).toBe(200);
      expect(response.text).not.toMatch(protocol.terminator);
      expect(response.text.match(new RegExp(protocol.errorFrame, 'gm'))).toHaveLength(1);
      expect(response.text.trimEnd().split('\n\n').at(-1)).toMatch(protocol.errorFrame);
      expect(response.text).not.toContain('CANARY');

      const row = await rowOf(shared.gateway, response.id);
      const channel = `first-${model}`;
      expect(row).toMatchObject({ outcome: 'failed', status: 200, channel });
      expect(row.tokens).toMatchObject({ input: 0, output: 0 });
      expect(attemptsOf(row)).toEqual([
        { channel, class: 'shown', status: 200, result: expect.stringMatching(result) },
      ]);
    },
  );
});

test.each(eachCall)(
  '$name: an unknown word beside a text and usage is an ordinary end, and is named',
  async ({ protocol, stream }) => {
    const headers = { 'x-simulator-fault': 'ending=made_up' };
    const native = await ask(shared.gateway, protocol, stream, 'm', headers);
    expect(native.text).toContain('"made_up"');
    const other = protocol.name === 'chat' ? 'only-messages' : 'only-chat';
    const converted = await ask(shared.gateway, protocol, stream, other, headers);
    expect(converted.text).toMatch(/"(stop|completed|end_turn|STOP)"/);
    for (const { id, text } of [native, converted]) {
      if (stream) expect(text).toMatch(protocol.terminator);
      expect(await rowOf(shared.gateway, id)).toMatchObject({
        outcome: 'completed',
        tokens: { input: 2, output: 21 },
        usage_unread: ['ending=made_up'],
      });
    }
    const metrics = await (await fetch(`${shared.gateway.url}/metrics`)).text();
    expect(metrics).toMatch(/sluice_unread_usage_total\{model="m",path="ending=made_up"\} \d/);
  },
);

test('R-12 responses: the failure carries the id and the sequence number of the response', async () => {
  const responses = textProtocols[1]!;
  const response = await ask(shared.gateway, responses, true, 'm', {
    'x-simulator-fault': 'cut-at=6',
  });
  const events = response.text
    .split('\n')
    .filter((line) => line.startsWith('data: '))
    .map((line) => JSON.parse(line.slice(6)) as Record<string, never>);
  const failed = events.at(-1) as unknown as {
    sequence_number: number;
    response: Record<string, unknown>;
  };
  expect(failed.sequence_number).toBe(events.length - 1);
  expect(failed.response).toMatchObject({
    id: (events[0] as unknown as { response: { id: string } }).response.id,
    model: 'm',
    status: 'failed',
    error: { code: 'upstream_unavailable', message: 'upstream response abnormal' },
  });
});

test('R-13 chat: a stream closed after a finish reason without [DONE] is complete and gets its [DONE]', async () => {
  const chat = textProtocols[0]!;
  const response = await ask(shared.gateway, chat, true, 'm', { 'x-simulator-fault': 'no-done' });
  expect(response.text).toMatch(/data: \[DONE\]\n\n$/);
  expect(response.text.match(/\[DONE\]/g)).toHaveLength(1);
  expect(await rowOf(shared.gateway, response.id)).toMatchObject({
    outcome: 'completed',
    tokens: { input: 2, output: 21 },
  });
});

describe.each(textProtocols)(
  'R-14 $name: framing and chunk boundaries make no difference',
  (protocol) => {
    const framings = [
      'slice=1',
      'slice=random;seed=7',
      'crlf',
      'comments',
      'no-final-blank',
      'crlf;comments;slice=3',
    ];
    test.concurrent.each(framings)('%s reads like the plain stream', async (framing) => {
      const [plain, odd] = await Promise.all([
        ask(shared.gateway, protocol, true, 'm'),
        ask(shared.gateway, protocol, true, 'm', { 'x-simulator-fault': framing }),
      ]);
      expect(dataOf(odd.text)).toEqual(dataOf(plain.text));
      expect(odd.text).toMatch(protocol.terminator);
      expect(await rowOf(shared.gateway, odd.id)).toMatchObject({
        outcome: 'completed',
        tokens: { input: 2, output: 21 },
      });
    });
  },
);

/** The simulated Messages vendor caps `max_tokens` far below such a response. */
const boundless = textProtocols.filter(({ name }) => name !== 'messages');

test.concurrent.each(boundless)(
  'R-15 $name: an event beyond the limit is an error and takes no memory',
  async (protocol) => {
    const response = await ask(shared.gateway, protocol, true, 'm', {
      'x-simulator-fault': `big-event=${9 * 2 ** 20}`,
    });
    if (response.status === 200) expect(response.text).toMatch(protocol.errorFrame);
    else expect(response.status).toBe(502);
    expect(response.text).not.toMatch(protocol.terminator);
    expect(response.text.length).toBeLessThan(2 ** 20);
    expect(await rowOf(shared.gateway, response.id)).toMatchObject({ outcome: 'failed' });
  },
);

function dataOf(text: string): string[] {
  return text.split(/\r?\n/).filter((line) => line.startsWith('data:'));
}
