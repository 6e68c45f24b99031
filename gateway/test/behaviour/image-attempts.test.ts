import { describe, expect, test } from 'vitest';
import {
  faultAt,
  generations,
  imageChannel,
  imageModel,
  sendImages,
  tester,
} from './image-requests.ts';
import { attemptsOf, closedPort, rowOf, shareGateway } from './support.ts';

/** After these nothing was made, so a spare channel is asked. */
const harmless: Readonly<Record<string, string>> = {
  dead: `http://127.0.0.1:${await closedPort()}`,
  unknown: faultAt('status=401'),
  unpaid: faultAt('status=402'),
  forbidden: faultAt('status=403'),
  missing: faultAt('status=404'),
  limited: faultAt('status=429'),
  busy: faultAt('status=503'),
  overloaded: faultAt('status=529'),
};

/** After these something may have been made. */
const harmful: Readonly<Record<string, string>> = {
  failing: faultAt('status=500'),
  'bad-gateway': faultAt('status=502'),
  'gateway-time-out': faultAt('status=504'),
  garbled: faultAt('garbage'),
  paged: faultAt('html'),
  silent: faultAt('empty'),
  resetting: faultAt('refuse'),
  cutting: faultAt('cut-at=1'),
  closing: faultAt('close-at=1'),
  stalling: faultAt('stall'),
};

const troubled = [...Object.entries(harmless), ...Object.entries(harmful)];

const shared = shareGateway({
  config: `
timeouts: { image_first_byte: 1500ms }
channels:
${imageChannel({ name: 'pictures' })}
${troubled
  .flatMap(([name, at]) => [
    imageChannel({ name, at, more: ', priority: 9' }),
    imageChannel({ name: `spare-of-${name}`, models: name }),
  ])
  .join('\n')}
models:
${['pictures', ...troubled.map(([id]) => id)].map((id) => imageModel({ id })).join('\n')}
${tester}
`,
});

const send = (path: string, body: unknown, headers?: Record<string, string>) =>
  sendImages(shared.gateway, path, body, headers);

const good = { model: 'pictures', prompt: 'a house', size: '256x256' };

describe('a request is sent to a second channel', () => {
  test.each(Object.keys(harmless))('if nothing was made: %s', async (model) => {
    const { status, id } = await send(generations, { ...good, model });
    expect(status).toBe(200);
    const attempts = attemptsOf(await rowOf(shared.gateway, id));
    expect(attempts.at(-1)).toMatchObject({ channel: `spare-of-${model}`, result: 'completed' });
  });

  test.each(Object.keys(harmful))('never if something may have been made: %s', async (model) => {
    const { status, id, json } = await send(generations, { ...good, model });
    expect(status).toBe(502);
    expect(json.error?.message).toBe('upstream response abnormal');
    const row = await rowOf(shared.gateway, id);
    expect(row).toMatchObject({ outcome: 'failed', cost: null });
    expect(attemptsOf(await rowOf(shared.gateway, id))).toHaveLength(1);
  });
});

test('a client that has announced a short wait is served as long as it stays', async () => {
  const headers = { 'x-stainless-timeout': '1', 'x-simulator-fault': 'delay=1400' };
  const { status, id } = await send(generations, good, headers);
  expect(status).toBe(200);
  expect((await rowOf(shared.gateway, id)).cost).toBe('0.04');
});

test('the time to the first byte is that of pictures', async () => {
  const { status, id } = await send(generations, { ...good, model: 'stalling' });
  expect(status).toBe(502);
  const [attempt] = attemptsOf(await rowOf(shared.gateway, id));
  expect(attempt).toMatchObject({ class: 'uncertain', result: 'first-byte-timeout' });
});
