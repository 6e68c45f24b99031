import { describe, expect, test } from 'vitest';
import { responseLossNames, type TextProtocolName } from '#canonical/index.ts';
import { ResponseLosses } from '#conversion/losses.ts';
import { readEvents, sameNames } from '../recordings/tap-run.ts';
import { requestOf } from '../support/canonical.ts';
import { textProtocolNames } from '../support/convert.ts';
import { readerOf } from '../support/converted-reader.ts';

const cited = {
  chat: {
    choices: [
      {
        index: 0,
        finish_reason: 'stop',
        message: {
          role: 'assistant',
          content: 'so',
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://e.com', title: 't' } },
          ],
        },
      },
    ],
  },
  responses: {
    object: 'response',
    status: 'completed',
    output: [
      { type: 'web_search_call', id: 'ws_1', status: 'completed' },
      {
        type: 'message',
        role: 'assistant',
        content: [
          {
            type: 'output_text',
            text: 'so',
            annotations: [{ type: 'url_citation', url: 'https://e.com', title: 't' }],
          },
        ],
      },
    ],
  },
  'generate-content': {
    candidates: [
      {
        content: {
          role: 'model',
          parts: [
            { executableCode: { language: 'PYTHON', code: 'print(1)' } },
            { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            { text: 'so' },
          ],
        },
        finishReason: 'STOP',
        groundingMetadata: { groundingChunks: [{ web: { uri: 'https://e.com' } }] },
      },
    ],
  },
};

type Upstream = keyof typeof cited;

function lost(upstream: Upstream, client: TextProtocolName, stream: string | null): string[] {
  const losses = new ResponseLosses(client);
  const reader = readerOf(upstream, client, requestOf(), losses);
  if (stream === null) {
    reader.readResponse(Buffer.from(JSON.stringify(cited[upstream])), sameNames);
  } else {
    const tap = reader.createStreamTap(sameNames);
    for (const event of readEvents([Buffer.from(stream)])) tap.inspect(event);
    tap.completion();
  }
  return losses.all().map(({ what, how }) => `${how === 'dropped' ? '-' : '~'}${what}`);
}

const sse = (...events: readonly object[]) =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');

const chatStream = sse(
  { choices: [{ index: 0, delta: { role: 'assistant', content: 'so' } }] },
  { choices: [{ index: 0, delta: { annotations: cited.chat.choices[0]?.message.annotations } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
);

describe('parts of a response that the client cannot receive', () => {
  test.each<[Upstream, TextProtocolName, string[]]>([
    ['chat', 'responses', []],
    ['chat', 'messages', ['-answer.citations']],
    ['chat', 'generate-content', ['-answer.citations']],
    ['responses', 'chat', ['-answer.web_search_call']],
    ['responses', 'messages', ['-answer.citations', '-answer.web_search_call']],
    ['generate-content', 'chat', ['~answer.executableCode', '~answer.image']],
    ['generate-content', 'responses', ['~answer.executableCode']],
    [
      'generate-content',
      'messages',
      ['-answer.citations', '~answer.executableCode', '~answer.image'],
    ],
  ])('%s to %s: %j', (upstream, client, names) => {
    expect(lost(upstream, client, null)).toEqual(names);
  });

  test('have a known name, or the name of the upstream’s block', () => {
    for (const upstream of Object.keys(cited) as Upstream[]) {
      const wire = JSON.stringify(cited[upstream]);
      for (const client of textProtocolNames) {
        if (client === upstream) continue;
        for (const name of lost(upstream, client, null)) {
          const what = name.slice(1);
          const isKnown = Object.hasOwn(responseLossNames, what);
          expect(isKnown || wire.includes(`"${what.slice('answer.'.length)}"`)).toBe(true);
        }
      }
    }
  });

  test('are the same for a stream', () => {
    const gemini = sse(cited['generate-content']);
    for (const client of textProtocolNames) {
      if (client !== 'chat') {
        expect(lost('chat', client, chatStream)).toEqual(lost('chat', client, null));
      }
      if (client !== 'generate-content') {
        const whole = lost('generate-content', client, null);
        expect(lost('generate-content', client, gemini)).toEqual(whole);
      }
    }
  });
});
