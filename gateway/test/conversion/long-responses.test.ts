import { test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { eachEvent, sameNames } from '../recordings/tap-run.ts';
import { requestOf } from '../support/canonical.ts';
import { textProtocolNames } from '../support/convert.ts';
import { readerOf } from '../support/converted-reader.ts';
import { assertQuickOrLinear } from '../support/growth.ts';
import { inTurn } from '../support/runs.ts';

/*
 * S-21, for answers: whatever an upstream streams, an event costs as much as it is long, not as much as what came
 * before. Each stream takes some hundred milliseconds; many seconds where something is quadratic.
 */

const quickMilliseconds = 2500;
const request = requestOf({ stream: true, wantsUsage: true });

const event = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const delta = (value: object): string => event({ choices: [{ index: 0, delta: value }] });
const chunk = (...calls: readonly object[]): string => delta({ tool_calls: calls });
const called = (text: string) => ({ name: 'f', arguments: text });
const times = (count: number, make: (at: number) => string): string =>
  Array.from({ length: count }, (_, at) => make(at)).join('');

const opaque = { type: 'server_tool_use', id: 'a', name: 'f', input: {} };
const page = { web: { uri: 'http://a.example', title: 'a' } };
const support = (startIndex: number, endIndex: number, text: string) => ({
  segment: { startIndex, endIndex, text },
  groundingChunkIndices: [0],
});
const grounded = (text: string, groundingSupports: readonly object[]): string =>
  event({
    candidates: [
      {
        content: { parts: [{ text }] },
        groundingMetadata: { groundingChunks: [page], groundingSupports },
        finishReason: 'STOP',
      },
    ],
  });

/** A whole stream, or a part of it. */
const streams: readonly (readonly [TextProtocolName, what: string, (part: number) => string])[] = [
  [
    'chat',
    'every piece names the tool again',
    (part) =>
      chunk({ index: 0, function: called('{"a":[{}') }) +
      times(20_000 * part, () => chunk({ index: 0, function: called(',{}') })),
  ],
  [
    'chat',
    'arguments that are not an object yet',
    (part) => times(20_000 * part, () => chunk({ index: 0, function: called(' '.repeat(16)) })),
  ],
  [
    'chat',
    'calls that look ended and are not',
    (part) =>
      chunk(
        ...Array.from({ length: 20_000 * part }, (_, at) => ({
          id: `c${at}`,
          function: called('{"a":{}'),
        })),
      ),
  ],
  [
    'chat',
    'text between calls that all go on',
    (part) =>
      times(
        12_000 * part,
        (at) => delta({ content: 'a' }) + chunk({ id: `c${at}`, function: called('{') }),
      ),
  ],
  [
    'messages',
    'ever more members of a block that only its own protocol knows',
    (part) =>
      event({ type: 'message_start', message: { id: 'm', content: [] } }) +
      event({ type: 'content_block_start', index: 0, content_block: opaque }) +
      times(8000 * part, (at) =>
        event({ type: 'content_block_delta', index: 0, delta: { type: 'a', [`k${at}`]: 1 } }),
      ) +
      event({ type: 'content_block_stop', index: 0 }),
  ],
  [
    'generate-content',
    'many sources of a long text',
    (part) =>
      grounded(
        'é'.repeat(500_000 * part),
        Array.from({ length: 20_000 * part }, (_, at) => support(at * 50, at * 50 + 2, 'é')),
      ),
  ],
  [
    'generate-content',
    'words that are nowhere in it',
    (part) =>
      grounded(
        'a'.repeat(1_000_000 * part),
        Array.from({ length: 20_000 * part }, (_, at) => support(0, 1, `${'a'.repeat(20)}b${at}`)),
      ),
  ],
  [
    'generate-content',
    'words that nearly are',
    (part) =>
      grounded('a'.repeat(1_000_000 * part), [
        support(0, 1, `${'a'.repeat(100_000 * part)}b${'a'.repeat(100_000 * part)}`),
      ]),
  ],
];

const endings: Readonly<Record<string, string>> = {
  chat: event({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }) + 'data: [DONE]\n\n',
  messages:
    event({ type: 'message_delta', delta: { stop_reason: 'end_turn' } }) +
    event({ type: 'message_stop' }),
};

for (const [index, [upstream, what, make]] of streams.entries()) {
  const others = textProtocolNames.filter((client) => client !== upstream);
  test.each(inTurn(index, others))(
    `S-21: ${what}: ${upstream} for %s`,
    (client) => {
      assertQuickOrLinear((part) => {
        const input = Buffer.from(make(part) + (endings[upstream] ?? ''));
        const tap = readerOf(upstream, client, request).createStreamTap(sameNames);
        return () => {
          eachEvent([input], (one) => void tap.inspect(one));
          tap.completion();
        };
      }, quickMilliseconds);
    },
    60_000,
  );
}
