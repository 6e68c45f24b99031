import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeChannels } from '../behaviour/support.ts';
import { textProtocols, type TextProtocol } from '../behaviour/text-protocols.ts';
import { startTestGateway, type TestGateway } from '../support/gateway.ts';
import { startOwnUpstream, type OwnUpstream } from '../support/own-upstream.ts';
import { allRows } from './reconcile.ts';

/*
 * The simulator's streams, written in every way that the standard of event streams allows and cut anywhere. Each slice
 * is a chunk of HTTP, so that the gateway is handed exactly these slices, whatever TCP makes of them.
 */

/** `npm run test:sieges` asks for more than ten thousand in all. */
const perPair = process.env['SLUICE_FAULT_LOOPS'] === undefined ? 12 : 640;
const atOnce = 8;

/** Two, three and four bytes of UTF-8, which the response quotes. */
const question = 'grüße 日本 🙂';

interface StreamEvent {
  readonly name: string | null;
  readonly data: string;
}

/** What is asked at the gateway, and what the only channel of the model speaks. */
const pairs = textProtocols.flatMap((asked) => textProtocols.map((spoken) => ({ asked, spoken })));

let gateway: TestGateway;
let upstream: OwnUpstream;
/** The upstream's stream per protocol, as events. */
const responses = new Map<string, readonly StreamEvent[]>();
let sent = 0;

beforeAll(async () => {
  upstream = await startOwnUpstream();
  upstream.answer = ({ path, body }, response) => {
    const events = responses.get(protocolOf(path)) ?? [];
    const seed = Number(/seed (\d+)\./.exec(JSON.stringify(body))?.[1] ?? 0);
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    if (seed === 0) response.end(plainText(events));
    else {
      const random = createRandom(seed);
      for (const slice of slicesOf(writtenOddly(events, random), random)) response.write(slice);
      response.end();
    }
  };
  gateway = await startTestGateway({
    config: describeChannels(
      textProtocols.map(({ name }) => ({
        name,
        at: upstream.url,
        models: [`by-${name} -> demo-chat`],
        protocols: [name],
      })),
    ),
  });
  for (const protocol of textProtocols) {
    const response = await fetch(gateway.simulator.url + protocol.path('demo-chat', true), {
      method: 'POST',
      headers: {
        authorization: 'Bearer any',
        'content-type': 'application/json',
        'anthropic-version': '2023-06-01',
      },
      body: JSON.stringify(protocol.body('demo-chat', true, question)),
    });
    responses.set(protocol.name, eventsOf(await response.text()));
  }
});

afterAll(async () => {
  await gateway.close();
  await upstream.close();
});

describe('R-14 chunk boundaries', () => {
  test.each(pairs)(
    `$asked.name of $spoken.name: ${perPair} slicings read like the plain stream`,
    { timeout: 20_000 + perPair * 200 },
    async ({ asked, spoken }) => {
      const plain = await ask(asked, spoken, 0);
      expect(plain.at(-1)).toBeDefined();
      expect(JSON.stringify(plain)).toContain('日本 🙂');
      let left = perPair;
      const asker = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const seed = (sent += 1);
          expect({ seed, events: await ask(asked, spoken, seed) }).toEqual({ seed, events: plain });
        }
      };
      await Promise.all(Array.from({ length: atOnce }, asker));
    },
  );

  test('slicings cost the same', async () => {
    await gateway.usage();
    const rows = await allRows(gateway.app.database);
    expect(rows).toHaveLength(sent + pairs.length);
    const kinds = rows.map(({ outcome, protocol, channel, tokens, cost }) =>
      JSON.stringify([protocol, channel, outcome, tokens, String(cost)]),
    );
    const distinct = new Set(kinds);
    // One for each pair, whatever was cut where.
    expect([...distinct].toSorted()).toHaveLength(pairs.length);
    expect([...distinct].filter((kind) => !kind.includes('"completed"'))).toEqual([]);
    expect(gateway.errors).toEqual([]);
  });
});

/** The events that the client gets, parsed, without what is new in every response. */
async function ask(asked: TextProtocol, spoken: TextProtocol, seed: number): Promise<unknown[]> {
  const model = `by-${spoken.name}`;
  const response = await gateway.post(
    asked.path(model, true),
    // Of one length, because some responses begin with an estimate of it.
    asked.body(model, true, `seed ${String(seed).padStart(6, '0')}.`),
  );
  expect(response.status).toBe(200);
  const text = await response.text();
  return eventsOf(text).map(({ name, data }) => [
    name,
    data === '[DONE]' ? data : JSON.parse(data, withoutNews),
  ]);
}

/** Identifiers and times, which the gateway makes up when it converts. */
function withoutNews(key: string, value: unknown): unknown {
  if (/^(id|item_id|responseId|request_id)$/.test(key)) return typeof value;
  return /^(created|created_at|completed_at|createTime)$/.test(key) ? typeof value : value;
}

function protocolOf(path: string): TextProtocol['name'] {
  if (path.includes(':')) return 'generate-content';
  if (path.endsWith('/chat/completions')) return 'chat';
  return path.endsWith('/responses') ? 'responses' : 'messages';
}

/** Reads a stream by the letter of the standard: an event without its empty line does not count. */
function eventsOf(text: string): StreamEvent[] {
  const events: StreamEvent[] = [];
  let name: string | null = null;
  let data: string[] = [];
  // What comes after the last line's end is no line.
  for (const line of text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\n|\r/)
    .slice(0, -1)) {
    const [, field = '', value = ''] = /^([^:]*):? ?(.*)$/.exec(line) ?? [];
    if (line === '') {
      if (data.length > 0) events.push({ name, data: data.join('\n') });
      name = null;
      data = [];
    } else if (field === 'event') name = value;
    else if (field === 'data') data.push(value);
  }
  return events;
}

function plainText(events: readonly StreamEvent[]): string {
  return events
    .map(({ name, data }) => `${name === null ? '' : `event: ${name}\n`}data: ${data}\n\n`)
    .join('');
}

type Random = (below: number) => number;

/** Whole numbers below a bound, the same for the same seed (mulberry32). */
function createRandom(seed: number): Random {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** The same events with another framing: line ends, a mark, comments, fields nobody uses, data over several lines. */
function writtenOddly(events: readonly StreamEvent[], random: Random): Buffer {
  const isOneIn = (times: number): boolean => random(times) === 0;
  const end = ['\n', '\r\n', '\r'][random(3)] ?? '';
  const space = isOneIn(2) ? ' ' : '';
  const lines: string[] = [];
  const odd = [':', ': waiting', 'id: 7', 'retry: 10', 'unknown: {}', 'id', ':data: {}'];
  for (const { name, data } of events) {
    while (isOneIn(4)) lines.push(isOneIn(4) ? '' : (odd[random(odd.length)] ?? ''));
    const isSpread = isOneIn(3) && data !== '[DONE]';
    const spread = isSpread
      ? JSON.stringify(JSON.parse(data), null, random(3)).split('\n')
      : [data];
    const own = spread.map((line) => `data:${space}${line}`);
    if (name !== null) own.splice(isOneIn(4) ? own.length : 0, 0, `event:${space}${name}`);
    lines.push(...own, '');
  }
  // The last event's empty line, and now and then the end of its last line, is missing.
  if (isOneIn(3)) lines.pop();
  const text = lines.join(end) + (isOneIn(2) ? end : '');
  return Buffer.from((isOneIn(4) ? '\ufeff' : '') + text);
}

function slicesOf(bytes: Buffer, random: Random): Buffer[] {
  const longest = [1, 2, 3, 7, 40, 400, bytes.length][random(7)] ?? 1;
  const slices: Buffer[] = [];
  for (let at = 0; at < bytes.length;) {
    const length = 1 + random(longest);
    slices.push(bytes.subarray(at, at + length));
    at += length;
  }
  return slices;
}
