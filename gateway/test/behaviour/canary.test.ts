import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, describe, expect, test } from 'vitest';
import { createLogger } from '#observability/index.ts';
import { testKey } from '../support/gateway.ts';
import {
  ask,
  attemptsOf,
  describeChannels,
  openGateway,
  openTcpServer,
  rowOf,
  shareGateway,
  until,
} from './support.ts';
import { eachCall, textProtocols } from './text-protocols.ts';

/** The simulator puts it into every failure's text. */
const canary = 'CANARY';
const upstreamKey = 'sk-upstream-CANARY-credential';

const faults = [
  ...[400, 401, 403, 404, 422, 429, 500, 529].map((status) => `status=${status}`),
  'html',
  'html;status=502',
  'redirect',
  'error-first',
  'error-at=2',
  'error-at=6;status=400',
];

/** As a process writes it. */
let log = '';
const { info, warn, request, close } = createLogger(
  new Writable({
    write(chunk: Buffer, _encoding, done) {
      log += chunk.toString();
      done();
    },
  }),
);

afterAll(close);

const shared = shareGateway({
  logger: { info, warn, request },
  // Without it, an operator finds the upstream's words, cleaned, for 30 days.
  config: `retention: { error_texts: 0 }\n${describeChannels(
    faults.map((fault, index) => ({
      name: `c${index}`,
      at: `/fault(${fault})`,
      models: [`m${index} -> demo-chat`],
      more: [`api_key: ${upstreamKey}`],
    })),
  )}`,
});

describe.each(eachCall)('S-27 S-28 $name: upstream text', ({ protocol, stream }) => {
  test.each(faults.map((fault, index) => ({ fault, model: `m${index}` })))(
    '$fault: upstream text reaches no client',
    async ({ model }) => {
      const { gateway } = shared;
      const response = await gateway.post(
        protocol.path(model, stream),
        protocol.body(model, stream, 'CANARY-client-text'),
      );
      const bytes = (await response.text()) + JSON.stringify([...response.headers]);
      // The client's own text may come back in a response; nothing else may.
      expect(bytes.replaceAll('CANARY-client-text', '')).not.toContain(canary);
      expect(JSON.stringify(await gateway.usage())).not.toContain(canary);
    },
  );
});

test('S-28 no text of either side and no credential is on disk or in a log', async () => {
  const { gateway } = shared;
  for (const protocol of textProtocols) {
    await (
      await gateway.post(
        protocol.path('m0', false),
        protocol.body('m0', false, 'CANARY-client-text'),
      )
    ).text();
  }
  const rows = await gateway.usage();
  expect(rows.length).toBeGreaterThan(100);
  await until(() => rows.every(({ id }) => log.includes(id)), 'a line for each');
  expect(log).not.toContain(canary);
  expect(log).not.toContain(testKey);
  const folder = gateway.app.dataDir;
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((each) =>
    each.isFile(),
  );
  expect(files.length).toBeGreaterThan(1);
  for (const { parentPath, name } of files) {
    const bytes = readFileSync(join(parentPath, name));
    expect([name, bytes.includes(canary)]).toEqual([name, false]);
    expect([name, bytes.includes(testKey)]).toEqual([name, false]);
  }
  expect(JSON.stringify(gateway.errors)).not.toContain(canary);
});

test('S-27 upstream text in odd places is dropped: reason phrase, headers, trailers, comments, an unknown event', async () => {
  const body = [
    `: ${canary} comment\n\n`,
    `event: ${canary}\ndata: {"error":{"message":"${canary}","param":"${canary}","code":"${canary}"}}\n\n`,
  ].join('');
  const url = await openTcpServer((socket) => {
    socket.on('data', () =>
      socket.end(
        `HTTP/1.1 200 ${canary}\r\ncontent-type: text/event-stream\r\nx-${canary}: ${canary}\r\nretry-after: ${canary}\r\nconnection: close\r\n\r\n${body}`,
      ),
    );
  });
  const gateway = await openGateway({
    config: `
channels:
  - { name: up, provider: openai-compatible, base_url: "${url}/v1", protocols: [chat, responses], models: [demo-chat] }
`,
  });
  for (const protocol of textProtocols.slice(0, 2)) {
    const response = await gateway.post(
      protocol.path('demo-chat', true),
      protocol.body('demo-chat', true),
    );
    expect(response.status).toBe(502);
    expect((await response.text()) + JSON.stringify([...response.headers])).not.toContain(canary);
  }
  expect(JSON.stringify(await gateway.usage())).not.toContain(canary);
});

test('S-27 a response that is not HTTP is abnormal, and not logged as an error of the gateway', async () => {
  let bytes = '';
  const url = await openTcpServer((socket) => socket.on('data', () => socket.write(bytes)));
  const gateway = await openGateway({
    config: describeChannels([{ name: 'up', at: url, models: ['demo-chat'] }]),
  });
  for (const said of [
    canary,
    `HTTP/1.1 200 OK\r\nx ${canary}: y\r\n\r\n`,
    `HTTP/1.1 200 OK\r\ncontent-length: ${canary}\r\n\r\n`,
    `HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\nX${canary}\r\n`,
  ]) {
    bytes = said;
    for (const stream of [false, true]) {
      const response = await ask(gateway, textProtocols[0]!, stream);
      expect([said, response.status]).toEqual([said, 502]);
      expect(response.text + JSON.stringify([...response.headers])).not.toContain(canary);
      const row = await rowOf(gateway, response.id);
      expect(attemptsOf(row)).toMatchObject([{ channel: 'up', result: 'malformed' }]);
    }
  }
  expect(gateway.errors).toEqual([]);
});
