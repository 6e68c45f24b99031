import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type {
  Block,
  FinishReason,
  GenerationEvent,
  GenerationRequest,
  TokenUsage,
} from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import type { ResponseContext } from '../../codec.ts';
import { readInclusiveUsage } from '../../shared/usage/inclusive-usage.ts';
import { anyResponse, anyEvent, chatResponse, eventsOf } from '#test/support/chat-responses.ts';
import { chat, chatCodec } from '../index.ts';
import { contentState } from './reasoning.ts';
import { type ReadChoice, readChatStream } from '#test/support/chat-grammar.ts';

const path = { operation: 'generate', model: null, stream: null } as const;

function requestOf(json: object): GenerationRequest {
  const body = Buffer.from(JSON.stringify({ model: 'mine', messages: [], ...json }));
  return chatCodec.decodeRequest(chat.readRequest(chat.openRequest(body, path)));
}

function contextOf(json: object = {}): ResponseContext {
  return {
    requestId: 'req_abcdefghijklmnopqrstuvwx',
    model: 'mine',
    createdAt: 1_740_000_000,
    request: requestOf(json),
    inputTokens: 1,
  };
}

const usage: TokenUsage = {
  input: 7,
  cacheRead: 3,
  cacheWrite: 1,
  cacheWrite1h: 1,
  output: 5,
  reasoning: 2,
};
const withUsage = { stream: true, stream_options: { include_usage: true } };

/** The bytes of a stream of these events. Every call returns complete frames or nothing. */
function streamOf(
  events: readonly GenerationEvent[],
  json: object = {},
  used: TokenUsage | null = null,
): string {
  const encoder = chatCodec.createStreamEncoder(contextOf(json));
  const written = events.map((event) => encoder.push(event));
  for (const frames of written) expect(frames === '' || frames.endsWith('\n\n')).toBe(true);
  return written.join('') + encoder.end(used);
}

const finished = (reason: FinishReason): GenerationEvent => ({
  type: 'finish',
  finish: { reason },
});

function readStream(events: readonly GenerationEvent[]): ReadChoice {
  const [choice] = readChatStream(streamOf(events), false);
  if (choice === undefined) throw new Error('no choice');
  return choice;
}

const encodeResponse = (
  blocks: readonly Block[],
  reason: FinishReason = 'end',
  json: object = {},
) =>
  chatCodec.encodeResponse(
    { candidates: [{ blocks, finish: { reason } }], extensions: [] },
    null,
    contextOf(json),
  );

const messageOf = (json: Readonly<Record<string, unknown>>) =>
  (json['choices'] as { message: Record<string, unknown> }[])[0]?.message ?? {};

describe('a chat stream', () => {
  it('is legal in whatever order events come', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 25 }), fc.boolean(), (events, asked) => {
        readChatStream(streamOf(events, asked ? withUsage : {}, usage), asked);
      }),
      { numRuns: 500 },
    );
  });

  it('is equivalent to the whole response', () => {
    fc.assert(
      fc.property(anyResponse, fc.nat(4), (blocks, at) => {
        const streamed = readStream([...eventsOf(blocks, () => at), finished('end')]);
        const json = encodeResponse(blocks);
        const message = messageOf(json);
        expect({
          content: streamed.content,
          reasoning: streamed.reasoning,
          refusal: streamed.refusal,
          details: streamed.details,
          annotations: streamed.annotations,
          calls: streamed.calls.map(({ id, type, name, text }) =>
            type === 'custom'
              ? { id, type, custom: { name, input: text } }
              : { id, type, function: { name, arguments: text } },
          ),
          finish: streamed.finish,
        }).toEqual({
          content: message['content'] ?? '',
          reasoning: message['reasoning_content'] ?? '',
          refusal: message['refusal'] ?? '',
          details: message['reasoning_details'] ?? [],
          annotations: message['annotations'] ?? [],
          calls: message['tool_calls'] ?? [],
          finish: (json['choices'] as { finish_reason: string }[])[0]?.finish_reason,
        });
      }),
      { numRuns: 300 },
    );
  });

  it('begins with the role, ends with finish, usage and [DONE]', () => {
    expect(streamOf([{ type: 'text', text: 'é"' }, finished('end')], withUsage, usage)).toBe(
      [
        '{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}',
        '{"index":0,"delta":{"content":"é\\""},"logprobs":null,"finish_reason":null}',
        '{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}',
      ]
        .map((choice) => `${head}[${choice}],"usage":null}\n\n`)
        .join('') +
        `${head}[],"usage":{"prompt_tokens":12,"completion_tokens":5,"total_tokens":17,"prompt_tokens_details":{"cached_tokens":3,"cache_write_tokens":2,"audio_tokens":0},"completion_tokens_details":{"reasoning_tokens":2,"audio_tokens":0,"accepted_prediction_tokens":0,"rejected_prediction_tokens":0}}}\n\n` +
        'data: [DONE]\n\n',
    );
  });

  const head =
    'data: {"id":"chatcmpl-abcdefghijklmnopqrstuvwx","object":"chat.completion.chunk","created":1740000000,"model":"mine","choices":';

  it('K05: a call without arguments gets an empty object', () => {
    const start = { type: 'call-start', call: 0, id: 'a', name: 'f', kind: 'function' } as const;
    expect(readStream([start, { type: 'call-end', call: 0 }]).calls[0]?.text).toBe('{}');
    expect(readStream([start]).calls[0]?.text).toBe('{}');
    const whole = messageOf(
      encodeResponse([{ type: 'tool-call', id: 'a', name: 'f', kind: 'function', arguments: '' }]),
    );
    expect(whole['tool_calls']).toMatchObject([{ function: { arguments: '{}' } }]);
  });

  it('K08: it finishes with tool_calls if and only if there are calls', () => {
    const start = { type: 'call-start', call: 0, id: 'a', name: 'f', kind: 'function' } as const;
    expect(readStream([start, finished('end')]).finish).toBe('tool_calls');
    expect(readStream([finished('tool')]).finish).toBe('stop');
    expect(readStream([start, finished('length')]).finish).toBe('length');
  });

  it('K09: every choice has one finish reason, even if the upstream gave none', () => {
    const texts: GenerationEvent[] = [
      { type: 'text', text: 'a' },
      { type: 'text', text: 'b', choice: 1 },
    ];
    const choices = readChatStream(streamOf(texts), false);
    expect(choices.map(({ finish }) => finish)).toEqual(['stop', 'stop']);
    expect(readChatStream(streamOf([]), false)).toMatchObject([{ content: '', finish: 'stop' }]);
  });

  it('K11: the first chunk has the role, whatever event comes first', () => {
    const events: GenerationEvent[] = [
      { type: 'reasoning', text: 'hm' },
      { type: 'call-start', call: 1, id: 'a', name: 'f', kind: 'function' },
    ];
    for (const event of events) {
      const encoder = chatCodec.createStreamEncoder(contextOf());
      expect(encoder.push(event)).toMatch(/^data: .*"delta":\{"role":"assistant","content":""\}/);
    }
  });

  it('K12, K13: calls count from 0 and have unique ids, whatever their numbers upstream', () => {
    const start = (call: number) =>
      ({ type: 'call-start', call, id: null, name: 'f', kind: 'function' }) as const;
    const { calls } = readStream([{ type: 'reasoning', text: 'hm' }, start(1), start(3), start(2)]);
    expect(calls).toHaveLength(3);
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3);
    for (const { id } of calls)
      expect(id.length).toBeLessThanOrEqual(chatCodec.traits.toolIdLength);
  });

  it('arguments of parallel calls may interleave', () => {
    const start = (call: number) =>
      ({ type: 'call-start', call, id: `c${call}`, name: 'f', kind: 'function' }) as const;
    const piece = (call: number, text: string) => ({ type: 'call-arguments', call, text }) as const;
    const { calls } = readStream([
      start(0),
      start(1),
      piece(1, '{"b"'),
      piece(0, '{'),
      piece(1, ':1}'),
      piece(0, '}'),
    ]);
    expect(calls.map(({ text }) => text)).toEqual(['{}', '{"b":1}']);
  });

  it('events after the end of a call, or of the response, are not sent', () => {
    const { calls, finish } = readStream([
      { type: 'call-start', call: 0, id: 'a', name: 'f', kind: 'function' },
      { type: 'call-arguments', call: 0, text: '{}' },
      { type: 'call-end', call: 0 },
      { type: 'call-arguments', call: 0, text: 'x' },
      finished('length'),
      finished('end'),
    ]);
    expect([calls[0]?.text, finish]).toEqual(['{}', 'length']);
  });

  it('adjacent texts are joined, separated texts become paragraphs', () => {
    const text = (each: string): GenerationEvent => ({ type: 'text', text: each });
    const end: GenerationEvent = { type: 'block-end' };
    expect(readStream([text('a'), end, text('b')]).content).toBe('ab');
    const call = { type: 'call-start', call: 0, id: 'a', name: 'f', kind: 'function' } as const;
    expect(readStream([text('a'), call, text('b')]).content).toBe('a\n\nb');
  });

  it('a broken stream ends with the error and no terminator', () => {
    const encoder = chatCodec.createStreamEncoder(contextOf(withUsage));
    encoder.push({ type: 'text', text: 'a' });
    const error = new GatewayError('upstream_abnormal');
    expect(encoder.fail(error)).toBe(chat.encodeStreamError(error));
    expect([encoder.push({ type: 'text', text: 'b' }), encoder.end(usage)]).toEqual(['', '']);
  });

  it('has probabilities only if the client asked for them', () => {
    const logprobs = [{ token: 'a', logprob: -1, bytes: [97], top: [] }];
    const event: GenerationEvent = { type: 'text', text: 'a', logprobs };
    expect(streamOf([event])).not.toContain('"token"');
    expect(streamOf([event], { logprobs: true })).toContain(
      '"logprobs":{"content":[{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[]}],"refusal":null}',
    );
  });
});

describe('a whole chat response', () => {
  it('survives a round trip over the wire', () => {
    fc.assert(
      fc.property(chatResponse, (blocks) => {
        const { candidates } = chatCodec.decodeResponse(encodeResponse(blocks));
        expect(candidates[0]?.blocks).toEqual(blocks.map(asChat));
      }),
      { numRuns: 300 },
    );
  });

  it('survives a round trip as a stream', () => {
    fc.assert(
      fc.property(chatResponse, fc.nat(4), (blocks, at) => {
        // A stream joins the reasoning of several blocks into one text with paragraphs.
        fc.pre(blocks.filter(({ type }) => type === 'reasoning').length <= 1);
        const decoder = chatCodec.createStreamDecoder();
        const events: GenerationEvent[] = [];
        for (const frame of streamOf(eventsOf(blocks, () => at))
          .split('\n\n')
          .slice(0, -1)) {
          const data = Buffer.from(frame.slice('data: '.length));
          decoder.push({ raw: data, name: null, data }, (event) => events.push(event));
        }
        expect(collectEvents(events)[0]?.blocks ?? []).toEqual(blocks.map(asChat));
      }),
      { numRuns: 300 },
    );
  });

  /**
   * Envelopes do not show their maker: state that arrives in this protocol belongs to it. Reasoning without any is what
   * its maker may want back.
   */
  function asChat(block: Block): Block {
    if (block.type === 'reasoning' && block.state === undefined) {
      return { ...block, state: contentState };
    }
    return block.state === undefined
      ? block
      : { ...block, state: { ...block.state, protocol: 'chat' } };
  }

  it('has the shape of the protocol', () => {
    const json = chatCodec.encodeResponse(
      {
        candidates: [
          { blocks: [{ type: 'text', text: 'Hi' }], finish: { reason: 'end' } },
          { blocks: [], finish: { reason: 'blocked' } },
        ],
        extensions: [],
      },
      usage,
      contextOf(),
    );
    expect(json).toMatchObject({
      id: 'chatcmpl-abcdefghijklmnopqrstuvwx',
      object: 'chat.completion',
      created: 1_740_000_000,
      model: 'mine',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'Hi', refusal: null },
          finish_reason: 'stop',
          logprobs: null,
        },
        {
          index: 1,
          message: { role: 'assistant', content: '', refusal: null },
          finish_reason: 'content_filter',
        },
      ],
    });
    expect(messageOf(json)).not.toHaveProperty('tool_calls');
    // This protocol has one count for both kinds of cache writes.
    expect(readInclusiveUsage(json['usage'])?.tokens).toEqual({
      ...usage,
      cacheWrite: 2,
      cacheWrite1h: 0,
    });
  });

  it('has null content beside calls', () => {
    const call: Block = {
      type: 'tool-call',
      id: 'a',
      name: 'f',
      kind: 'function',
      arguments: '{}',
    };
    expect(messageOf(encodeResponse([call]))['content']).toBe(null);
  });

  it('shows images as Markdown', () => {
    const image: Block = {
      type: 'image',
      source: { kind: 'data', mime: 'image/png', base64: 'AAAA' },
    };
    expect(messageOf(encodeResponse([image, image]))['content']).toBe(
      '![image](data:image/png;base64,AAAA)\n\n![image](data:image/png;base64,AAAA)',
    );
  });

  it('counts citations from the beginning of the content', () => {
    const cited = (text: string): Block => ({
      type: 'text',
      text,
      citations: [{ url: 'https://e.com', title: 't', start: 0, end: 2 }],
    });
    const json = encodeResponse([cited('ab'), { type: 'reasoning', text: 'x' }, cited('cd')]);
    const places = (messageOf(json)['annotations'] as { url_citation: object }[]).map(
      ({ url_citation }) => url_citation,
    );
    expect(places).toMatchObject([
      { start_index: 0, end_index: 2 },
      { start_index: 4, end_index: 6 },
    ]);
  });
});

describe('traits', () => {
  it('K16: OpenAI-compatible servers accept the names and ids', () => {
    const { toolName, toolNameLength, toolIdLength } = chatCodec.traits;
    expect([toolNameLength, toolIdLength]).toEqual([64, 40]);
    expect(['get_weather-2', 'a.b', 'ä', ''].map((name) => toolName.test(name))).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });

  it("fields have the client's names", () => {
    expect(['n', 'max_output_tokens', 'temperature'].map(chatCodec.fieldName)).toEqual([
      'n',
      'max_completion_tokens',
      'temperature',
    ]);
  });
});
