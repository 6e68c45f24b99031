import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator } from 'simulator';
import { afterAll, describe, expect, test } from 'vitest';
import { startGatewayProcess } from '../support/gateway-process.ts';
import { describeChannels } from './support.ts';
import { textProtocols, type TextProtocol } from './text-protocols.ts';

/*
 * S-21: legal JSON made to hurt. Each body is decided, long before the time of a test is up if the work grows with the
 * body and with nothing else, and the gateway serves normally afterwards. It runs in a process of its own, so that the
 * test's own work on such bodies does not look like an overload.
 */

const secret = 'sk-hostile-0123456789abcdefghijklmnopqrstuv';
const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'));
const simulator = await startSimulator();
const channels = describeChannels([
  { name: 'native', models: ['native -> demo-chat'] },
  { name: 'chat', models: ['by-chat -> demo-chat'], protocols: ['chat'] },
  { name: 'messages', models: ['by-messages -> demo-chat'], protocols: ['messages'] },
]);
writeFileSync(
  join(folder, 'sluice.yaml'),
  `server: { port: 0 }
${channels.replaceAll('SIMULATOR', simulator.url)}
users: [{ email: tester@example.com, balance: 100000 }, { email: administrator@example.com, role: admin }]
keys: [{ name: test, user: tester@example.com, secret: ${secret} }]
`,
);
const gateway = startGatewayProcess({ folder });
const url = await gateway.url;

afterAll(async () => {
  gateway.child.kill('SIGKILL');
  await gateway.exit;
  await simulator.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A model whose only channel speaks the client's protocol, and one whose channel speaks another one. */
const modelsFor = ({ name }: TextProtocol) => [
  'native',
  name === 'messages' ? 'by-chat' : 'by-messages',
];

/** A tool whose parameters are this schema, as the protocol writes it. */
const toolsOf: Record<TextProtocol['name'], (schema: string) => string> = {
  chat: (schema) => `[{"type":"function","function":{"name":"f","parameters":${schema}}}]`,
  responses: (schema) => `[{"type":"function","name":"f","parameters":${schema}}]`,
  messages: (schema) => `[{"name":"f","input_schema":${schema}}]`,
  'generate-content': (schema) =>
    `[{"functionDeclarations":[{"name":"f","parameters":${schema}}]}]`,
};

const settingsOf: Record<TextProtocol['name'], (number: string) => string> = {
  chat: (number) => `"max_completion_tokens":${number},"temperature":${number}`,
  responses: (number) => `"max_output_tokens":${number},"temperature":${number}`,
  messages: (number) => `"temperature":${number},"top_k":${number}`,
  'generate-content': (number) =>
    `"generationConfig":{"maxOutputTokens":${number},"temperature":${number}}`,
};

/** The protocol's ordinary body with these members before its own. */
function bodyWith(protocol: TextProtocol, model: string, members: string): string {
  return JSON.stringify(protocol.body(model, false)).replace('{', `{${members},`);
}

interface Seen {
  readonly status: number;
  readonly message: string | null;
}

async function send(protocol: TextProtocol, model: string, body: string): Promise<Seen> {
  simulator.clear();
  const response = await fetch(url + protocol.path(model, false), {
    method: 'POST',
    headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json' },
    body,
  });
  const text = await response.text();
  if (response.status === 503) {
    // On a busy machine a row of such bodies is an overload like any other, which says when to come again.
    await wait(1_000 * Number(response.headers.get('retry-after')));
    return send(protocol, model, body);
  }
  const message = response.status === 200 ? null : protocol.errorMessage(JSON.parse(text));
  return { status: response.status, message };
}

const lists = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const objects = (depth: number) => `${'{"a":'.repeat(depth)}0${'}'.repeat(depth)}`;
const members = (count: number, value = '0') =>
  `{${Array.from({ length: count }, (_, at) => `"k${at}":${value}`).join(',')}}`;
/** More than is kept or parsed in one piece, which is 2 MiB. */
const long = 'x'.repeat(3 * 2 ** 20);

const refused: readonly (readonly [name: string, value: string])[] = [
  ...[1e3, 1e6].flatMap((depth) => [
    [`${depth} lists in each other`, lists(depth)] as const,
    [`${depth} objects in each other`, objects(depth)] as const,
    [`${depth} brackets that nobody closes`, '['.repeat(depth)] as const,
  ]),
  // Above the bound of 262144.
  ['300000 members', members(300_000)],
];

const legal: readonly (readonly [name: string, value: string])[] = [
  ['100000 members', members(100_000)],
  ['a million elements, the most but a few', `[${'0,'.repeat(1e6)}0]`],
  ['a string of 3 MiB', `"${long}"`],
  ['a member named by 3 MiB', `{"${long}":0}`],
  ['half a million escapes', `"${'\\u0000'.repeat(5e5)}"`],
  ['a million backslashes', `"${'\\\\'.repeat(1e6)}"`],
  ['a number of 100000 digits', '9'.repeat(1e5)],
  ['numbers beyond all', '[1e400,-1e400,1e-400,1E+400]'],
];

describe.each(textProtocols)('S-21 $name: JSON made to hurt', (protocol) => {
  test.each(refused)('%s is refused', async (_name, value) => {
    for (const body of [
      bodyWith(protocol, 'native', `"x":${value}`),
      bodyWith(protocol, 'native', `"tools":${toolsOf[protocol.name](value)}`),
      value,
    ]) {
      const { status, message } = await send(protocol, 'native', body);
      const detail = body.startsWith('{') ? ': too complex' : '';
      expect([status, message]).toEqual([400, `invalid request body${detail}`]);
      expect(simulator.requests()).toEqual([]);
    }
  });

  test.each([
    ...legal.map(([name, value]) => [name, `"x":${value}`] as const),
    ['a schema of depth 400', `"tools":${toolsOf[protocol.name](schema(400))}`] as const,
    [
      'a schema of 20000 properties',
      `"tools":${toolsOf[protocol.name](`{"type":"object","properties":${members(20_000, '{"type":"string"}')}}`)}`,
    ] as const,
  ])('%s', async (_name, written) => {
    for (const model of modelsFor(protocol)) {
      const body = bodyWith(protocol, model, written);
      const { status } = await send(protocol, model, body);
      expect([200, 400]).toContain(status);
      // The channel of the client's own protocol is given what the client wrote, and judges it.
      if (model === 'native') expect(simulator.requests()).toHaveLength(1);
    }
  });

  test('a text of 3 MiB is accepted', async () => {
    for (const model of modelsFor(protocol)) {
      const body = JSON.stringify(protocol.body(model, false, long));
      const { status } = await send(protocol, model, body);
      expect(status).toBe(200);
    }
  });

  test('numbers that no double can hold are accepted in the settings', async () => {
    for (const number of ['1e400', '-1e400', '9'.repeat(400), '1e-400', '-0', '1E+2']) {
      for (const model of modelsFor(protocol)) {
        const body = bodyWith(protocol, model, settingsOf[protocol.name](number));
        const { status } = await send(protocol, model, body);
        expect([number, [200, 400].includes(status)]).toEqual([number, true]);
      }
    }
  });

  test('requests are served normally after all this', async () => {
    const body = JSON.stringify(protocol.body('native', false));
    expect(await send(protocol, 'native', body)).toMatchObject({ status: 200 });
  });
});

/** Nested objects, `depth` levels deep. */
function schema(depth: number): string {
  const levels = Math.floor(depth / 2);
  const opening = '{"type":"object","properties":{"a":'.repeat(levels);
  return `${opening}{"type":"string"}${'}}'.repeat(levels)}`;
}

test('the process survives and logs no error', () => {
  expect(gateway.child.exitCode).toBeNull();
  expect(gateway.stderr()).not.toMatch(/"level":[56]0/);
});
