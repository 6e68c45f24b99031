import { describe, expect, it } from 'vitest';
import type { TextProtocolName, TokenUsage } from '#canonical/index.ts';
import { textProtocols, UnreadableResponse } from '../../index.ts';

const same = { clientModel: 'm', upstreamModel: 'm' };

const envelopes: Record<TextProtocolName, (usage: unknown) => object> = {
  chat: (usage) => ({ choices: [], usage }),
  responses: (usage) => ({ output: [], usage }),
  messages: (usage) => ({ content: [], usage }),
  'generate-content': (usageMetadata) => ({ candidates: [], usageMetadata }),
};

const usageOf = (protocol: TextProtocolName, usage: unknown) =>
  textProtocols[protocol].readResponse(
    Buffer.from(JSON.stringify(envelopes[protocol](usage))),
    same,
  ).usage;

const zero: TokenUsage = {
  input: 0,
  cacheRead: 0,
  cacheWrite: 0,
  cacheWrite1h: 0,
  output: 0,
  reasoning: 0,
};

describe('usage in normal form', () => {
  it.each<[string, TextProtocolName, unknown, Partial<TokenUsage>]>([
    [
      'chat: cached tokens lie inside the prompt',
      'chat',
      {
        prompt_tokens: 2006,
        prompt_tokens_details: { cached_tokens: 1920 },
        completion_tokens: 300,
      },
      { input: 86, cacheRead: 1920, output: 300 },
    ],
    [
      'chat: cache writes too',
      'chat',
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 10, cache_write_tokens: 20 },
        completion_tokens: 1,
        completion_tokens_details: { reasoning_tokens: 1 },
      },
      { input: 70, cacheRead: 10, cacheWrite: 20, output: 1, reasoning: 1 },
    ],
    [
      'chat: counters of another form at the top level',
      'chat',
      {
        prompt_tokens: 50,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 0 },
        cache_read_input_tokens: 30,
        cache_creation_input_tokens: 15,
      },
      { input: 5, cacheRead: 30, cacheWrite: 15, output: 5 },
    ],
    [
      'chat: prompt_cache_hit_tokens',
      'chat',
      { prompt_tokens: 343, completion_tokens: 58, prompt_cache_hit_tokens: 256 },
      { input: 87, cacheRead: 256, output: 58 },
    ],
    [
      'chat: a cache larger than the prompt lies outside it',
      'chat',
      { prompt_tokens: 7, completion_tokens: 1, prompt_tokens_details: { cached_tokens: 900 } },
      { input: 7, cacheRead: 900, output: 1 },
    ],
    [
      'chat: reasoning beside the output, as the total shows',
      'chat',
      {
        prompt_tokens: 436,
        completion_tokens: 268,
        total_tokens: 852,
        completion_tokens_details: { reasoning_tokens: 148 },
      },
      { input: 436, output: 416, reasoning: 148 },
    ],
    [
      'chat: cache writes as Model Studio names them',
      'chat',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: {
          cached_tokens: 10,
          cache_creation_input_tokens: 20,
          cache_creation: { ephemeral_5m_input_tokens: 20 },
        },
      },
      { input: 70, cacheRead: 10, cacheWrite: 20, output: 1 },
    ],
    [
      'responses: cache writes of a session at Model Studio',
      'responses',
      {
        input_tokens: 100,
        output_tokens: 1,
        input_tokens_details: { cached_tokens: 10 },
        x_details: [
          { prompt_tokens_details: { cache_creation: { ephemeral_5m_input_tokens: 20 } } },
        ],
      },
      { input: 70, cacheRead: 10, cacheWrite: 20, output: 1 },
    ],
    [
      'chat: lifetimes of cache writes as LiteLLM names them',
      'chat',
      {
        prompt_tokens: 100,
        completion_tokens: 1,
        prompt_tokens_details: {
          cache_creation_tokens: 30,
          cache_creation_token_details: {
            ephemeral_5m_input_tokens: 10,
            ephemeral_1h_input_tokens: 20,
          },
        },
      },
      { input: 70, cacheWrite: 10, cacheWrite1h: 20, output: 1 },
    ],
    [
      'chat: in the words of Bedrock’s Converse API, whose input is without the cache',
      'chat',
      { inputTokens: 10, outputTokens: 5, cacheReadInputTokens: 90, cacheWriteInputTokens: 7 },
      { input: 10, cacheRead: 90, cacheWrite: 7, output: 5 },
    ],
    [
      'chat: in the words of the AI SDK',
      'chat',
      { promptTokens: 10, completionTokens: 5, totalTokens: 15 },
      { input: 10, output: 5 },
    ],
    [
      'chat: in the words of Gemini',
      'chat',
      {
        promptTokenCount: 10,
        candidatesTokenCount: 5,
        thoughtsTokenCount: 3,
        cachedContentTokenCount: 4,
      },
      { input: 6, cacheRead: 4, output: 8, reasoning: 3 },
    ],
    [
      'chat: in the words of Ollama',
      'chat',
      { prompt_eval_count: '10', eval_count: 5 },
      { input: 10, output: 5 },
    ],
    [
      'chat: in the words of watsonx',
      'chat',
      { input_token_count: 10, generated_token_count: 5 },
      { input: 10, output: 5 },
    ],
    [
      'chat: sound and pictures are parts of each count',
      'chat',
      {
        prompt_tokens: 100,
        prompt_tokens_details: {
          cached_tokens: 40,
          audio_tokens: 30,
          image_tokens: 20,
          cached_tokens_details: { audio_tokens: 10, image_tokens: 5 },
        },
        completion_tokens: 50,
        completion_tokens_details: { audio_tokens: 30, image_tokens: 8, reasoning_tokens: 9 },
      },
      {
        input: 60,
        inputAudio: 20,
        inputImage: 15,
        cacheRead: 40,
        cacheReadAudio: 10,
        cacheReadImage: 5,
        output: 50,
        outputAudio: 30,
        outputImage: 8,
        reasoning: 9,
      },
    ],
    [
      'chat: cached counts by kind beside the others',
      'chat',
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 9, audio_tokens: 30, cached_audio_tokens: 9 },
        completion_tokens: 5,
      },
      { input: 91, inputAudio: 21, cacheRead: 9, cacheReadAudio: 9, output: 5 },
    ],
    [
      'chat: what cannot have been read anew comes from the cache',
      'chat',
      {
        prompt_tokens: 100,
        prompt_tokens_details: { cached_tokens: 60, audio_tokens: 70 },
        completion_tokens: 5,
      },
      { input: 40, inputAudio: 40, cacheRead: 60, cacheReadAudio: 30, output: 5 },
    ],
    [
      'chat: more sound than there are tokens lies beside them',
      'chat',
      {
        prompt_tokens: 10,
        prompt_tokens_details: { audio_tokens: 30 },
        completion_tokens: 5,
        completion_tokens_details: { audio_tokens: 20 },
      },
      { input: 40, inputAudio: 30, output: 25, outputAudio: 20 },
    ],
    [
      'responses: sound',
      'responses',
      {
        input_tokens: 100,
        input_tokens_details: { audio_tokens: 30 },
        output_tokens: 5,
        output_tokens_details: { audio_tokens: 4, image_tokens: 1 },
      },
      { input: 100, inputAudio: 30, output: 5, outputAudio: 4, outputImage: 1 },
    ],
    [
      'responses',
      'responses',
      {
        input_tokens: 81,
        input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
        output_tokens: 1035,
        output_tokens_details: { reasoning_tokens: 832 },
        total_tokens: 1116,
      },
      { input: 78, cacheRead: 1, cacheWrite: 2, output: 1035, reasoning: 832 },
    ],
    [
      'responses: what is kept for twelve hours is a part of what is written',
      'responses',
      {
        input_tokens: 100,
        input_tokens_details: {
          cached_tokens: 10,
          cache_write_tokens: 50,
          cache_write_tokens_details: { ttl_12h_tokens: 20, ttl_30m_tokens: 30 },
        },
        output_tokens: 1,
      },
      { input: 40, cacheRead: 10, cacheWrite: 30, cacheWrite1h: 20, output: 1 },
    ],
    [
      'messages: the input excludes the cache',
      'messages',
      { input_tokens: 3, cache_creation_input_tokens: 12304, output_tokens: 550 },
      { input: 3, cacheWrite: 12304, output: 550 },
    ],
    [
      'messages: writes of an hour apart',
      'messages',
      {
        input_tokens: 3,
        cache_read_input_tokens: 4,
        cache_creation_input_tokens: 30,
        cache_creation: { ephemeral_5m_input_tokens: 10, ephemeral_1h_input_tokens: 20 },
        output_tokens: 9,
        output_tokens_details: { thinking_tokens: 2 },
      },
      { input: 3, cacheRead: 4, cacheWrite: 10, cacheWrite1h: 20, output: 9, reasoning: 2 },
    ],
    [
      'generate-content: thoughts are output, cached tokens are not input',
      'generate-content',
      {
        promptTokenCount: 1000,
        cachedContentTokenCount: 400,
        candidatesTokenCount: 50,
        thoughtsTokenCount: 200,
        toolUsePromptTokenCount: 7,
      },
      { input: 607, cacheRead: 400, output: 250, reasoning: 200 },
    ],
    [
      'generate-content: kinds of the prompt, its cache, tool results and candidates',
      'generate-content',
      {
        promptTokenCount: 17_713,
        cachedContentTokenCount: 17_379,
        candidatesTokenCount: 68,
        thoughtsTokenCount: 821,
        toolUsePromptTokenCount: 10,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 16 },
          { modality: 'VIDEO', tokenCount: 15_780 },
          { modality: 'AUDIO', tokenCount: 1_917 },
        ],
        cacheTokensDetails: [
          { modality: 'AUDIO', tokenCount: 1_881 },
          { modality: 'TEXT', tokenCount: 15 },
          { modality: 'VIDEO', tokenCount: 15_483 },
        ],
        toolUsePromptTokensDetails: [{ modality: 'IMAGE', tokenCount: 10 }],
        candidatesTokensDetails: [
          { modality: 'AUDIO', tokenCount: 60 },
          { modality: 'TEXT', tokenCount: 8 },
        ],
      },
      {
        input: 344,
        inputAudio: 36,
        inputImage: 10,
        cacheRead: 17_379,
        cacheReadAudio: 1_881,
        output: 889,
        outputAudio: 60,
        reasoning: 821,
      },
    ],
  ])('%s', (_, protocol, usage, expected) => {
    expect(usageOf(protocol, usage)).toEqual({
      tokens: { ...zero, ...expected },
      implausible: false,
    });
  });

  it('chat: other words beside its own are no counts, and are named', () => {
    const usage = { prompt_tokens: 1, completion_tokens: 2, inputTokens: 10, outputTokens: 5 };
    expect(usageOf('chat', usage)).toEqual({
      tokens: { ...zero, input: 1, output: 2 },
      implausible: false,
      unread: ['inputTokens', 'outputTokens'],
    });
  });

  describe('messages of several samplings', () => {
    const sampling = (type: string, input: number, output: number, more: object = {}) => ({
      type,
      input_tokens: input,
      output_tokens: output,
      ...more,
    });
    const tokens = (input: number, output: number, more: Partial<TokenUsage> = {}) => ({
      ...zero,
      input,
      output,
      ...more,
    });

    it.each<[string, object, object]>([
      [
        'a compaction comes in addition',
        {
          input_tokens: 682,
          output_tokens: 1_320,
          output_tokens_details: { thinking_tokens: 20 },
          iterations: [
            sampling('compaction', 60_385, 592, { cache_read_input_tokens: 9 }),
            sampling('message', 682, 1_320),
          ],
        },
        {
          tokens: tokens(61_067, 1_912, { cacheRead: 9, reasoning: 20 }),
          iterations: [
            { tokens: tokens(60_385, 592, { cacheRead: 9 }) },
            { tokens: tokens(682, 1_320) },
          ],
        },
      ],
      [
        'a compaction alone, after which the response pauses',
        {
          input_tokens: 0,
          output_tokens: 0,
          iterations: [sampling('compaction', 180_000, 3_500)],
        },
        { tokens: tokens(180_000, 3_500), iterations: [{ tokens: tokens(180_000, 3_500) }] },
      ],
      [
        'an advisor comes in addition, by another model',
        {
          input_tokens: 2_390,
          output_tokens: 121,
          iterations: [
            sampling('message', 1_128, 110),
            sampling('advisor_message', 2_518, 22, { model: 'Claude Opus@4' }),
            sampling('message', 1_262, 11),
          ],
        },
        {
          tokens: tokens(4_908, 143),
          iterations: [
            { tokens: tokens(1_128, 110) },
            { tokens: tokens(2_518, 22), model: 'claude-opus-4' },
            { tokens: tokens(1_262, 11) },
          ],
        },
      ],
      [
        'what was declined before any output is not charged, and the fallback is by another model',
        {
          input_tokens: 412,
          output_tokens: 264,
          iterations: [
            sampling('message', 408, 0, { model: 'a' }),
            sampling('fallback_message', 412, 264, { model: 'b' }),
          ],
        },
        { tokens: tokens(412, 264), iterations: [{ tokens: tokens(412, 264), model: 'b' }] },
      ],
      [
        'what was declined after some output is charged',
        {
          input_tokens: 412,
          output_tokens: 264,
          iterations: [
            sampling('message', 408, 3),
            sampling('fallback_message', 412, 264, { model: 'b' }),
          ],
        },
        { tokens: tokens(820, 267) },
      ],
      [
        'lifetimes of writes that only the counts name belong to the latest samplings',
        {
          input_tokens: 1,
          output_tokens: 2,
          cache_creation_input_tokens: 30,
          cache_creation: { ephemeral_1h_input_tokens: 30 },
          iterations: [
            sampling('compaction', 1, 1, { cache_creation_input_tokens: 50 }),
            sampling('message', 1, 2, { cache_creation_input_tokens: 20 }),
          ],
        },
        {
          iterations: [
            { tokens: tokens(1, 1, { cacheWrite: 40, cacheWrite1h: 10 }) },
            { tokens: tokens(1, 2, { cacheWrite1h: 20 }) },
          ],
        },
      ],
    ])('%s', (_, usage, expected) => {
      const reported = usageOf('messages', usage);
      expect(reported).toMatchObject({ ...expected, implausible: false });
      expect(reported?.isDoubtful).toBe(undefined);
    });

    it.each<[string, unknown]>([
      ['nothing', []],
      ['no list', {}],
      ['less than the counts', [sampling('message', 6, 2)]],
      ['no output', [sampling('message', 7, 1)]],
    ])('%s as samplings leaves the counts', (_, iterations) => {
      expect(usageOf('messages', { input_tokens: 7, output_tokens: 2, iterations })).toEqual({
        tokens: tokens(7, 2),
        implausible: false,
      });
    });

    it('more samplings than any response has are implausible', () => {
      const iterations = Array.from({ length: 129 }, () => sampling('message', 1, 1));
      const usage = { input_tokens: 129, output_tokens: 129, iterations };
      expect(usageOf('messages', usage)?.implausible).toBe(true);
    });
  });

  const halves: Record<TextProtocolName, readonly [input: string, output: string]> = {
    chat: ['prompt_tokens', 'completion_tokens'],
    responses: ['input_tokens', 'output_tokens'],
    messages: ['input_tokens', 'output_tokens'],
    'generate-content': ['promptTokenCount', 'candidatesTokenCount'],
  };
  const each = Object.entries(halves).map(([name, members]) => ({
    protocol: name as TextProtocolName,
    usage: (input: unknown, output: unknown) => ({ [members[0]]: input, [members[1]]: output }),
  }));

  describe.each(each)('$protocol', ({ protocol, usage }) => {
    it.each([-1, 1.5, '1e3', ' 7', '', '-7', '7.0', 'x', true, false, {}, [], [7]])(
      '%j is no count: that side is missing, and the report doubtful',
      (value) => {
        expect(usageOf(protocol, usage(value, 2))).toEqual({
          tokens: { ...zero, output: 2 },
          implausible: false,
          missingSide: 'input',
          isDoubtful: true,
        });
        expect(usageOf(protocol, usage(3, value))).toMatchObject({
          tokens: { input: 3, output: 0 },
          missingSide: 'output',
          isDoubtful: true,
        });
        expect(usageOf(protocol, usage(value, value))).toMatchObject({ missingSide: 'both' });
      },
    );

    it.each([2 ** 40 + 1, 2 ** 53, 1e308, '18446744073709551615'])(
      '%j is a count, and too large',
      (value) => {
        const most = 2 ** 40;
        expect(usageOf(protocol, usage(value, 2))).toEqual({
          tokens: { ...zero, input: most, output: 2 },
          implausible: true,
        });
        const { tokens, implausible } = usageOf(protocol, usage(3, value))!;
        expect([tokens.output, implausible]).toEqual([most, true]);
      },
    );

    it('reads whole numbers written as text', () => {
      const tokens = { ...zero, input: 100, output: 50 };
      expect(usageOf(protocol, usage('100', '050'))).toEqual({ tokens, implausible: false });
    });

    it('keeps a half, and explicit zeros', () => {
      expect(usageOf(protocol, usage(5, undefined))).toMatchObject({
        tokens: { input: 5 },
        missingSide: 'output',
      });
      expect(usageOf(protocol, usage(null, 5))).toMatchObject({
        tokens: { output: 5 },
        missingSide: 'input',
      });
      expect(usageOf(protocol, usage(0, 0))).toEqual({ tokens: zero, implausible: false });
    });
  });

  it('a total never overrides its parts', () => {
    for (const protocol of ['chat', 'responses'] as const) {
      const [prompt, completion] = halves[protocol];
      const usage = { [prompt]: 100, [completion]: 50, total_tokens: 99_999 };
      expect(usageOf(protocol, usage)).toEqual({
        tokens: { ...zero, input: 100, output: 50 },
        implausible: false,
        unnamed: 99_849,
      });
    }
    const google = { promptTokenCount: 100, candidatesTokenCount: 50, totalTokenCount: 99_999 };
    expect(usageOf('generate-content', google)).toEqual({
      tokens: { ...zero, input: 100, output: 50 },
      implausible: false,
    });
  });

  it('a total gives what is missing, and is doubtful where something else is in its place', () => {
    const total = { total_tokens: 30 };
    expect(usageOf('chat', { prompt_tokens: 10, ...total })).toEqual({
      tokens: { ...zero, input: 10, output: 20 },
      implausible: false,
    });
    expect(usageOf('chat', { prompt_tokens: 10, completion_tokens: true, ...total })).toEqual({
      tokens: { ...zero, input: 10, output: 20 },
      implausible: false,
      isDoubtful: true,
    });
    expect(usageOf('chat', { prompt_tokens: 'x', completion_tokens: true, ...total })).toEqual({
      tokens: zero,
      implausible: false,
      missingSide: 'both',
      isDoubtful: true,
    });
  });

  it.each(Object.keys(envelopes) as TextProtocolName[])('%s: no usage is not zero', (protocol) => {
    for (const usage of [null, undefined, {}, [], 'x']) expect(usageOf(protocol, usage)).toBe(null);
  });

  it('responses: tokens of the picture tool come beside those of the usage', () => {
    const response = (tool_usage: object) =>
      textProtocols.responses.readResponse(
        Buffer.from(
          JSON.stringify({
            output: [],
            usage: { input_tokens: 100, output_tokens: 10 },
            tool_usage,
          }),
        ),
        same,
      ).usage;
    expect(response({ image_gen: { input_tokens: 50, output_tokens: 7_024 } })).toEqual({
      tokens: { ...zero, input: 100, output: 10 },
      implausible: false,
      surcharges: { reported: [], webSearches: 0, imageTokens: 7_074 },
    });
    const none = response({ image_gen: { input_tokens: 0, output_tokens: 0 } });
    expect(none).not.toHaveProperty('surcharges');
  });

  it('explicit zero is zero', () => {
    expect(usageOf('chat', { prompt_tokens: 0, completion_tokens: 0 })?.tokens).toEqual(zero);
  });
});

describe('responses', () => {
  it.each<[TextProtocolName, string]>([
    ['chat', '<html>'],
    ['chat', '[]'],
    ['chat', '{}'],
    ['chat', '{"error":{"message":"no"},"choices":[]}'],
    ['responses', '{"status":"failed","output":[],"error":{"code":"server_error"}}'],
    ['messages', '{"type":"error","error":{"type":"overloaded_error"}}'],
    ['generate-content', '{"error":{"code":429}}'],
  ])('%s: %s is unreadable', (protocol, text) => {
    const readText = () => textProtocols[protocol].readResponse(Buffer.from(text), same);
    expect(readText).toThrow(UnreadableResponse);
  });

  it('pass token counts without usage', () => {
    const counted = Buffer.from('{"input_tokens":12}');
    expect(textProtocols.messages.readResponse(counted, same)).toEqual({
      body: counted,
      usage: null,
    });
    const total = Buffer.from('{"totalTokens":12}');
    expect(textProtocols['generate-content'].readResponse(total, same).usage).toBe(null);
  });

  it('echo the client’s model name and nothing deeper', () => {
    const text = '{"x":{"model":"deep"},"model" : "upstream","choices":[],"n":1.0}';
    const names = { clientModel: 'mine', upstreamModel: 'upstream' };
    expect(textProtocols.chat.readResponse(Buffer.from(text), names).body.toString()).toBe(
      '{"x":{"model":"deep"},"model" : "mine","choices":[],"n":1.0}',
    );
  });
});
