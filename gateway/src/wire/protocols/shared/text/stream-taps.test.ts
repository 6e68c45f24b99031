import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import {
  isWellEnded,
  type StreamContext,
  type StreamEvent,
  textProtocols,
  verdict,
  withUnknownEnding,
} from '../../index.ts';

const { forward, drop, replace, content, terminal, failed } = verdict;

function tapOf(protocol: TextProtocolName, context: Partial<StreamContext> = {}) {
  const names = { clientModel: 'm', upstreamModel: 'm', usageInjected: false };
  const tap = textProtocols[protocol].createStreamTap({ ...names, ...context });
  const see = (data: unknown, name: string | null = null) => tap.inspect(eventOf(data, name));
  return { tap, see };
}

/** An event as the reader makes it: the data is a view of the event's bytes. */
function eventOf(data: unknown, name: string | null): StreamEvent {
  const text = typeof data === 'string' ? data : JSON.stringify(data);
  const head = name === null ? 'data: ' : `event: ${name}\ndata: `;
  const raw = Buffer.from(`${head}${text}\n\n`);
  return { raw, name, data: raw.subarray(Buffer.byteLength(head), -2) };
}

const comment: StreamEvent = { raw: Buffer.from(': hi\n\n'), name: null, data: null };

const chunk = (delta: object, rest: object = {}) => ({
  choices: [{ index: 0, delta, finish_reason: null }],
  ...rest,
});
const finish = { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] };
const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 };

describe('an ending that means failure', () => {
  const choice = (reason: string, rest: object = {}) => ({
    choices: [{ index: 0, delta: {}, finish_reason: reason, ...rest }],
  });
  const ended = (status: string, rest: object = {}) => ({
    type: 'response.completed',
    response: { id: 'r', status, output: [], ...rest },
  });
  const stopped = (reason: string) => ({
    type: 'message_delta',
    delta: { stop_reason: reason },
    usage: { output_tokens: 1 },
  });
  const candidate = (reason: string) => ({
    candidates: [{ content: { parts: [{ text: 'a' }] }, finishReason: reason }],
  });

  it.each<[TextProtocolName, string, object]>([
    ['chat', 'abort', choice('abort')],
    ['chat', 'error', choice('error')],
    ['chat', 'network_error', choice('network_error')],
    ['chat', 'INSUFFICIENT_SYSTEM_RESOURCE', choice('INSUFFICIENT_SYSTEM_RESOURCE')],
    ['chat', 'overloaded', choice('stop', { error: { code: 'overloaded', message: 'no' } })],
    ['responses', 'cancelled', ended('cancelled')],
    ['responses', 'queued', ended('queued')],
    ['responses', 'failed', { type: 'response.failed', response: { status: 'failed' } }],
    ['messages', 'malformed_tool_use', stopped('malformed_tool_use')],
    ['generate-content', 'MALFORMED_FUNCTION_CALL', candidate('MALFORMED_FUNCTION_CALL')],
    ['generate-content', 'MISSING_THOUGHT_SIGNATURE', candidate('MISSING_THOUGHT_SIGNATURE')],
  ])('%s: %s', (protocol, code, event) => {
    const { tap, see } = tapOf(protocol);
    expect(see(event)).toBe(failed);
    expect(tap.failure).toMatchObject({ error: { code } });
  });

  it.each<[TextProtocolName, object]>([
    ['chat', choice('stop')],
    ['chat', choice('length', { error: null })],
    ['responses', ended('completed')],
    ['responses', ended('queued', { background: true })],
    ['messages', stopped('compaction')],
    ['generate-content', candidate('OTHER')],
  ])('%s: not %j', (protocol, event) => {
    expect(tapOf(protocol).see(event) & failed).toBe(0);
  });

  const echo = { clientModel: 'm', upstreamModel: 'm' };
  const said = 'What it said.';
  const block = { type: 'content_block_start', content_block: { type: 'text', text: said } };
  const item = { type: 'message', content: [{ type: 'output_text', text: said }] };
  /** By protocol: events with a text, the last one, and the whole response, each with an ending. */
  const endingWith: Readonly<
    Record<TextProtocolName, (word: string) => { text: object; end: object; whole: object }>
  > = {
    chat: (word) => ({
      text: chunk({ content: said }),
      end: { ...choice(word), usage },
      whole: { choices: [{ message: { content: said }, finish_reason: word }], usage },
    }),
    responses: (word) => ({
      text: { type: 'response.output_item.done', item },
      end: ended(word, { usage: { input_tokens: 9, output_tokens: 1 } }),
      whole: { status: word, output: [item], usage: { input_tokens: 9, output_tokens: 1 } },
    }),
    messages: (word) => ({
      text: block,
      end: stopped(word),
      whole: {
        content: [block.content_block],
        stop_reason: word,
        usage: { input_tokens: 9, output_tokens: 1 },
      },
    }),
    'generate-content': (word) => ({
      text: { candidates: [{ content: { parts: [{ text: said }] } }] },
      end: {
        candidates: [{ finishReason: word }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
      },
      whole: {
        candidates: [{ content: { parts: [{ text: said }] }, finishReason: word }],
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 1 },
      },
    }),
  };
  const unread = ['ending=made_up'];

  describe.each(Object.keys(endingWith) as TextProtocolName[])(
    '%s: an unknown word',
    (protocol) => {
      const { text, end, whole } = endingWith[protocol]('made_up');
      const read = (response: object) =>
        textProtocols[protocol].readResponse(Buffer.from(JSON.stringify(response)), echo);

      it('beside a text is no failure, and is named', () => {
        const { tap, see } = tapOf(protocol);
        see(text);
        expect([see(end) & failed, tap.unknownEnding]).toEqual([0, 'made_up']);
        expect(isWellEnded(protocol, 'made_up', tap.usage)).toBe(true);
        expect(withUnknownEnding(tap.usage, 'made_up')).toMatchObject({ unread });
        expect(read(whole).usage).toMatchObject({ tokens: { output: 1 }, unread });
      });

      it('without usage broke off, where usage is due', () => {
        const { usage: _, usageMetadata: __, ...bare } = whole as Record<string, unknown>;
        const isOptional = protocol === 'generate-content';
        expect(isWellEnded(protocol, 'made_up', null)).toBe(isOptional);
        if (isOptional) expect(read(bare).usage).toMatchObject({ unread });
        else expect(() => read(bare)).toThrow('broke off');
      });

      it('without a text broke off', () => {
        const { tap, see } = tapOf(protocol);
        expect(see(end)).toBe(failed);
        expect(tap.failure).toMatchObject({ error: { code: 'made_up' } });
        const bare = JSON.parse(JSON.stringify(whole).replaceAll(said, '')) as object;
        expect(() => read(bare)).toThrow('broke off');
      });
    },
  );

  it('an unknown word of a cut or of a filter needs neither text nor usage', () => {
    for (const word of ['hard_token_limit', 'safety_review']) {
      expect(tapOf('chat').see(choice(word)) & failed).toBe(0);
      expect(isWellEnded('chat', word, null)).toBe(true);
    }
  });

  it.each<[TextProtocolName, string, object]>([
    ['chat', 'abort', { choices: [{ message: {}, finish_reason: 'abort' }] }],
    ['chat', 'busy', { choices: [{ message: {}, error: { code: 'busy' } }] }],
    ['responses', 'cancelled', { output: [], status: 'cancelled' }],
    ['responses', 'failed', { output: [], status: 'failed', error: null }],
    ['messages', 'error', { content: [], stop_reason: 'error' }],
    ['generate-content', 'TOO_MANY_TOOL_CALLS', candidate('TOO_MANY_TOOL_CALLS')],
  ])('%s: %s in a whole response', (protocol, code, response) => {
    const read = () =>
      textProtocols[protocol].readResponse(Buffer.from(JSON.stringify(response)), echo);
    expect(read).toThrow(
      expect.objectContaining({ body: { error: expect.objectContaining({ code }) } }),
    );
  });
});

describe('chat', () => {
  it('reads a stream from role to [DONE]', () => {
    const { tap, see } = tapOf('chat');
    expect(see(chunk({ role: 'assistant', content: '', refusal: null }))).toBe(forward);
    expect(see(chunk({ content: 'Hé' }, { usage: null }))).toBe(content);
    expect(tap.outputBytes).toBe(3);
    expect(tap.finished).toBe(false);
    expect(tap.completion()).toBe('');
    expect(see(finish)).toBe(content);
    expect(tap.finished).toBe(true);
    expect(tap.completion()).toBe('data: [DONE]\n\n');
    expect(see({ choices: [], usage })).toBe(forward);
    expect(see('[DONE]')).toBe(terminal);
    expect(tap.completion()).toBe('');
    expect(tap.usage?.tokens).toMatchObject({ input: 9, output: 1 });
  });

  it.each<[string, object]>([
    ['refusal', { refusal: 'no' }],
    ['reasoning_content', { reasoning_content: 'hm' }],
    ['reasoning', { reasoning: 'hm' }],
    ['tool calls', { tool_calls: [{ index: 0, function: { name: 'f', arguments: '' } }] }],
    ['function call', { function_call: { name: 'f' } }],
    ['audio', { audio: { data: 'AA==' } }],
    ['carriers unknown so far', { images: [{}] }],
  ])('takes %s for content', (_, delta) => {
    expect(tapOf('chat').see(chunk(delta))).toBe(content);
  });

  it('counts speech as output, a second of audio as about 20 tokens', () => {
    const { tap, see } = tapOf('chat');
    expect(see(chunk({ audio: { id: 'audio_1', data: 'A'.repeat(64_000) } }))).toBe(content);
    expect(tap.outputBytes).toBe(80);
    expect(see(chunk({ audio: { transcript: 'Hi' } }))).toBe(content);
    expect(tap.outputBytes).toBe(82);
  });

  it('does not count heartbeats and filter results as content', () => {
    const { see } = tapOf('chat');
    expect(see({ choices: [], prompt_filter_results: [{ prompt_index: 0 }] })).toBe(forward);
    expect(see(chunk({ role: 'assistant' }))).toBe(forward);
    expect(see(chunk({ role: 'assistant', content: '', tool_calls: [] }))).toBe(forward);
  });

  describe.each<[string, object]>([
    ['choices[].usage', { choices: [{ ...finish.choices[0], usage }] }],
    ['choices[].delta.usage', { choices: [{ index: 0, delta: { usage }, finish_reason: 'stop' }] }],
    ['choices[].message.usage', { choices: [{ ...finish.choices[0], message: { usage } }] }],
    ['x_groq.usage', { ...finish, usage: null, x_groq: { id: 'r', usage } }],
    ['the object of another server', { x_other: { usage: null }, ...finish, more: { usage } }],
    [
      'amazon-bedrock-invocationMetrics',
      {
        ...finish,
        'amazon-bedrock-invocationMetrics': {
          inputTokenCount: 9,
          outputTokenCount: 1,
          firstByteLatency: 7,
        },
      },
    ],
    [
      'the root, before all others',
      { x_groq: { usage: { ...usage, prompt_tokens: 7 } }, ...finish, usage },
    ],
  ])('usage in %s', (_, last) => {
    const tokens = { input: 9, cacheRead: 0, output: 1 };

    it('is read in a stream, where it is no content', () => {
      const { tap, see } = tapOf('chat');
      expect(see(chunk({ content: 'x' }))).toBe(content);
      see(last);
      expect(tap.usage).toMatchObject({ implausible: false, tokens });
      expect([tap.usage?.missingSide, tap.usage?.isDoubtful]).toEqual([undefined, undefined]);
      expect(tap.outputBytes).toBe(1);
    });

    it('is read in a whole response', () => {
      const body = Buffer.from(JSON.stringify(last));
      const names = { clientModel: 'm', upstreamModel: 'm' };
      expect(textProtocols.chat.readResponse(body, names).usage).toMatchObject({ tokens });
    });
  });

  it('counts usage once that a choice and a chunk of its own report', () => {
    const { tap, see } = tapOf('chat', { usageInjected: true });
    see({ choices: [{ ...finish.choices[0], usage }] });
    expect(see({ choices: [], usage })).toBe(drop);
    expect(tap.usage).toEqual({
      tokens: expect.objectContaining({ input: 9, output: 1 }),
      implausible: false,
    });
  });

  it('removes the usage chunk that the gateway requested, and no other', () => {
    const { tap, see } = tapOf('chat', { usageInjected: true });
    expect(see({ choices: [], usage: null })).toBe(forward);
    expect(see({ ...chunk({ content: 'x' }), usage })).toBe(content);
    expect(see({ choices: [], usage: { ...usage, completion_tokens: 5 } })).toBe(drop);
    expect(tap.usage?.tokens.output).toBe(5);
  });

  it.each<[unknown, string | null]>([
    [{ error: { message: 'boom', code: 'x' } }, null],
    [{ error: 'boom' }, null],
    [{ message: 'boom' }, 'error'],
    ['{"choices":[{"delta":{"content":"cut', null],
    ['<html>', null],
    ['{"choices":[]}{}', null],
  ])('fails on %j', (data, name) => {
    const { tap, see } = tapOf('chat');
    expect(see(data, name)).toBe(failed);
    expect(tap.failure).toHaveProperty('error.message');
    expect(tap.finished).toBe(false);
  });

  it('is not deceived by text', () => {
    const { tap, see } = tapOf('chat', { usageInjected: true });
    const text = '"error":{"a":1},"usage":{"prompt_tokens":9},"finish_reason":"stop" [DONE]';
    expect(see(chunk({ content: text }))).toBe(content);
    expect([tap.finished, tap.usage]).toEqual([false, null]);
  });

  it('reads keys with escapes and any white space', () => {
    const { tap, see } = tapOf('chat');
    expect(
      see('{ "choices" : [ ] , "us\\u0061ge" : {"prompt_tokens" : 3, "completion_tokens":1} }'),
    ).toBe(forward);
    expect(tap.usage?.tokens.input).toBe(3);
  });

  it('is not finished while a choice that began has not ended', () => {
    const { tap, see } = tapOf('chat');
    const second = (delta: object, finish_reason: string | null = null) => ({
      choices: [{ delta, finish_reason, index: 1 }],
    });
    see(chunk({ content: 'x' }));
    see(second({ content: 'y' }));
    see(finish);
    expect([tap.finished, tap.completion()]).toEqual([false, '']);
    see(second({}, 'stop'));
    expect([tap.finished, tap.completion()]).toEqual([true, 'data: [DONE]\n\n']);
  });

  it('finishes on [DONE] after content, not on [DONE] alone', () => {
    const alone = tapOf('chat');
    alone.see('[DONE]');
    expect(alone.tap.finished).toBe(false);
    const written = tapOf('chat');
    written.see(chunk({ content: 'x' }));
    written.see('[DONE]');
    expect(written.tap.finished).toBe(true);
  });

  it('echoes the client’s model name in place', () => {
    const { tap, see } = tapOf('chat', { clientModel: 'mine', upstreamModel: 'up' });
    const text = '{"a":1.0,"model" : "up-2024","choices":[{"delta":{"content":"\\u00e9"}}]}';
    expect(see(text)).toBe(content | replace);
    expect(tap.replacement?.toString()).toBe(`data: ${text.replace('up-2024', 'mine')}\n\n`);
  });

  it('echoes in an event of several data lines too', () => {
    const { tap } = tapOf('chat', { clientModel: 'mine', upstreamModel: 'up' });
    const raw = Buffer.from('data: {"model":\ndata: "up"}\n\n');
    const result = tap.inspect({ raw, name: null, data: Buffer.from('{"model":\n"up"}') });
    expect(result).toBe(replace);
    expect(tap.replacement?.toString()).toBe('data: {"model":\ndata: "mine"}\n\n');
  });
});

describe('responses', () => {
  const response = { id: 'resp_1', model: 'up', created_at: 5, output: [], usage: null };
  const completed = {
    type: 'response.completed',
    sequence_number: 9,
    response: { ...response, usage: { input_tokens: 4, output_tokens: 2, total_tokens: 6 } },
  };

  it('reads usage beside the response too', () => {
    for (const inner of [undefined, null]) {
      const { tap, see } = tapOf('responses');
      const { usage: told } = completed.response;
      see({ ...completed, usage: told, response: { ...response, usage: inner } });
      expect(tap.usage?.tokens).toMatchObject({ input: 4, output: 2 });
    }
  });

  it('reads a stream to its terminal event, by name or by type', () => {
    for (const named of [true, false]) {
      const { tap, see } = tapOf('responses', { clientModel: 'mine' });
      const send = (data: { type: string }) => see(data, named ? data.type : null);
      expect(send({ type: 'response.created', response } as { type: string })).toBe(replace);
      expect(tap.replacement?.toString()).toContain('"model":"mine"');
      expect(send({ type: 'response.output_item.added' })).toBe(forward);
      expect(send({ type: 'response.output_text.delta', delta: 'Hi' } as { type: string })).toBe(
        content,
      );
      expect(tap.finished).toBe(false);
      expect(send(completed)).toBe(terminal | content | replace);
      expect([tap.finished, tap.outputBytes, tap.usage?.tokens.input]).toEqual([true, 2, 4]);
      expect(see('[DONE]')).toBe(forward);
    }
  });

  it('treats an incomplete response as a success', () => {
    const { tap, see } = tapOf('responses');
    expect(see({ ...completed, type: 'response.incomplete' })).toBe(terminal | content);
    expect(tap.finished).toBe(true);
  });

  it.each<[object, object]>([
    [
      {
        type: 'response.failed',
        response: { error: { code: 'rate_limit_exceeded', message: 'm' } },
      },
      { code: 'rate_limit_exceeded', message: 'm', type: null },
    ],
    [
      { type: 'error', code: 'server_error', message: 'm', param: null, sequence_number: 1 },
      { code: 'server_error', message: 'm', type: null },
    ],
    [
      { type: 'error', error: { type: 'insufficient_quota', code: 'q', message: 'm' } },
      { code: 'q', message: 'm', type: 'insufficient_quota' },
    ],
  ])('fails on %j', (data, error) => {
    const { tap, see } = tapOf('responses');
    expect(see(data)).toBe(failed);
    expect(tap.failure).toMatchObject({ error });
  });
});

describe('messages', () => {
  const start = {
    type: 'message_start',
    message: { id: 'msg_1', model: 'up', usage: { input_tokens: 25, output_tokens: 1 } },
  };
  const stopped = {
    type: 'message_delta',
    delta: { stop_reason: 'end_turn', stop_sequence: null },
    usage: { output_tokens: 15, input_tokens: null, cache_read_input_tokens: 7 },
  };

  it('reads usage of the last event too', () => {
    const { tap, see } = tapOf('messages');
    see(start);
    see({ ...stopped, usage: undefined });
    see({ type: 'message_stop', usage: { output_tokens: 15 } });
    expect(tap.usage?.tokens).toMatchObject({ input: 25, output: 15 });
  });

  it('K34: reads a stream from start to stop, by name or by type, with usage from both ends', () => {
    for (const named of [true, false]) {
      const { tap, see } = tapOf('messages', { clientModel: 'mine' });
      const send = (data: { type: string }) => see(data, named ? data.type : null);
      expect(send(start)).toBe(replace);
      expect(tap.replacement?.toString()).toContain('"model":"mine"');
      expect(send({ type: 'ping' })).toBe(forward);
      const frame = { type: 'text', text: '' };
      expect(see({ type: 'content_block_start', index: 0, content_block: frame })).toBe(forward);
      const delta = { type: 'text_delta', text: '' };
      expect(see({ type: 'content_block_delta', index: 0, delta })).toBe(forward);
      expect(see({ type: 'content_block_delta', delta: { ...delta, text: 'Hi' } })).toBe(content);
      expect(tap.finished).toBe(false);
      expect(send(stopped)).toBe(content);
      expect([tap.finished, tap.awaitsUsage, tap.closed]).toEqual([true, false, false]);
      expect(tap.completion()).toBe('event: message_stop\ndata: {"type":"message_stop"}\n\n');
      expect(send({ type: 'message_stop' })).toBe(terminal);
      expect([tap.finished, tap.closed, tap.completion()]).toEqual([true, true, '']);
      expect(tap.usage?.tokens).toMatchObject({ input: 25, cacheRead: 7, output: 15 });
      expect(tap.outputBytes).toBe(2);
    }
  });

  it('treats a tool call as content once it begins', () => {
    const { see } = tapOf('messages');
    const tool = { type: 'tool_use', id: 't', name: 'f', input: {} };
    expect(see({ type: 'content_block_start', content_block: tool })).toBe(content);
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    expect(see({ type: 'content_block_start', content_block: thinking })).toBe(forward);
    const signature = { type: 'signature_delta', signature: 's' };
    expect(see({ type: 'content_block_delta', delta: signature })).toBe(content);
  });

  it('fails on an error event', () => {
    const { tap, see } = tapOf('messages');
    const error = { type: 'overloaded_error', message: 'Overloaded' };
    expect(see({ type: 'error', error }, 'error')).toBe(failed);
    expect(tap.failure).toEqual({ type: 'error', error });
  });
});

describe('generate-content', () => {
  const text = (value: string, rest: object = {}) => ({
    candidates: [{ content: { role: 'model', parts: [{ text: value }] }, index: 0, ...rest }],
    modelVersion: 'up',
  });

  it('holds from the first finish reason on', () => {
    const { tap, see } = tapOf('generate-content', { clientModel: 'mine' });
    expect(tap.inspect(comment)).toBe(drop);
    expect(see(text(''))).toBe(replace);
    expect(see(text('Hel'))).toBe(content | replace);
    expect(tap.replacement?.toString()).toContain('"modelVersion":"mine"');
    expect(tap.finished).toBe(false);
    const usageMetadata = { promptTokenCount: 4, candidatesTokenCount: 2 };
    expect(see({ ...text('lo', { finishReason: 'STOP' }), usageMetadata })).toBe(
      content | replace | terminal,
    );
    expect(see({ usageMetadata: { promptTokenCount: 5 } })).toBe(forward);
    expect(see(text('', { index: 1 }))).toBe(replace);
    expect(tap.finished).toBe(false);
    expect(see(text('', { finishReason: 'STOP', index: 1 }))).toBe(content | replace);
    expect([tap.finished, tap.outputBytes, tap.usage?.tokens.input]).toEqual([true, 5, 5]);
  });

  it('remembers an output count that the last report omits', () => {
    const { tap, see } = tapOf('generate-content');
    see({ usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } });
    see({ ...text('Hello'), usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 21 } });
    const last = { promptTokenCount: 87, totalTokenCount: 87 };
    see({ ...text('', { finishReason: 'STOP' }), usageMetadata: last });
    expect(tap.usage).toMatchObject({ tokens: { input: 87, output: 21 } });
    expect(tap.usage?.missingSide).toBeUndefined();
  });

  it('believes the last total that includes output', () => {
    const { tap, see } = tapOf('generate-content');
    see({ ...text('Hello'), usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 21 } });
    const last = { promptTokenCount: 87, thoughtsTokenCount: 78, totalTokenCount: 165 };
    see({ ...text('', { finishReason: 'STOP' }), usageMetadata: last });
    expect(tap.usage).toMatchObject({ tokens: { input: 87, output: 78, reasoning: 78 } });
    expect(tap.usage?.missingSide).toBeUndefined();
  });

  it('does not treat the total of the beginning as that of the response', () => {
    const { tap, see } = tapOf('generate-content');
    see({ ...text('Hello'), usageMetadata: { promptTokenCount: 9, totalTokenCount: 9 } });
    see(text('', { finishReason: 'STOP' }));
    expect(tap.usage).toMatchObject({ tokens: { input: 9, output: 0 }, missingSide: 'output' });
  });

  it('treats a blocked prompt as a response and an error as a failure', () => {
    const blocked = tapOf('generate-content');
    expect(blocked.see({ promptFeedback: { blockReason: 'SAFETY' } })).toBe(content | terminal);
    expect(blocked.tap.finished).toBe(true);
    const broken = tapOf('generate-content');
    const error = { code: 503, message: 'overloaded', status: 'UNAVAILABLE' };
    expect(broken.see({ error })).toBe(failed);
    expect(broken.tap.failure).toEqual({ error });
  });
});
