import {
  ApiError,
  type CallableTool,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  GoogleGenAI,
} from '@google/genai';
import { describe, expect, it } from 'vitest';
import {
  canary,
  failureOf,
  pixel,
  question,
  readAll,
  received,
  testKey,
  textOf,
  useGateway,
} from './conformance-gateway.ts';

const gateway = useGateway();

const weather = {
  name: 'get_weather',
  parametersJsonSchema: { type: 'object', properties: { city: { type: 'string' } } },
};
const clock = { name: 'get_time' };
const tools = [{ functionDeclarations: [weather, clock] }];
const plain = { model: 'demo-chat', contents: question };
const said = (text: string): Content => ({ role: 'user', parts: [{ text }] });

describe.each(['v1beta', 'v1'])('generate-content with the official SDK under %s', (apiVersion) => {
  const client = (apiKey = testKey) =>
    new GoogleGenAI({ apiKey, httpOptions: { baseUrl: gateway().url, apiVersion } });
  const whole = (params: GenerateContentParameters) => client().models.generateContent(params);
  const chunksOf = async (params: GenerateContentParameters) =>
    readAll(await client().models.generateContentStream(params));
  /** The stream's parts and finish put together, as a chat session does. */
  async function streamed(params: GenerateContentParameters): Promise<Gathered> {
    const { items, error } = await chunksOf(params);
    if (error !== null) throw error;
    return gather(items);
  }
  const once = async (params: GenerateContentParameters) => gather([await whole(params)]);
  const ways = [
    ['whole', once],
    ['streamed', streamed],
  ] as const;

  describe('answers', () => {
    it('plain', async () => {
      const response = await whole(plain);
      expect(response.text).toContain(question);
      expect(response.modelVersion).toBe('demo-chat');
      expect(response.candidates?.[0]?.finishReason).toBe('STOP');
      expect(response.usageMetadata?.promptTokenCount).toBe(Math.ceil(question.length / 4));
      expect(response.sdkHttpResponse?.headers?.['x-request-id']).toMatch(/^req_.{24}$/);
    });

    it('streamed: the same text in several pieces', async () => {
      const { items, error } = await chunksOf(plain);
      expect(error).toBeNull();
      expect(items.length).toBeGreaterThan(6);
      expect(items.map(({ text }) => text ?? '').join('')).toBe((await whole(plain)).text);
      expect(items.at(-1)?.candidates?.[0]?.finishReason).toBe('STOP');
      expect(items.at(-1)?.usageMetadata?.totalTokenCount).toBeGreaterThan(30);
    });

    it.each(ways)('system, candidates and a limit, %s', async (_, ask) => {
      const config = { systemInstruction: 's'.repeat(40), maxOutputTokens: 5, candidateCount: 2 };
      const response = await ask({ ...plain, config });
      expect(response.finish).toBe('MAX_TOKENS');
      expect(response.texts).toEqual(['This is the Sluice s', 'This is the Sluice s']);
      expect(response.prompt).toBe(10 + Math.ceil(question.length / 4));
    });

    it('images', async () => {
      const inlineData = { mimeType: 'image/png', data: pixel };
      const contents = [{ role: 'user', parts: [{ text: 'look' }, { inlineData }] }];
      expect((await whole({ model: 'demo-chat', contents })).text).toContain('1 image');
    });

    it.each(ways)('a refusal and a refused prompt, %s', async (_, ask) => {
      const refused = await ask({ model: 'demo-chat', contents: 'refuse' });
      expect(refused.finish).toBe('SAFETY');
      const blocked = await ask({ model: 'demo-chat', contents: 'refuse prompt' });
      expect(blocked).toMatchObject({ block: 'SAFETY', texts: [] });
    });

    it('structured output', async () => {
      const responseJsonSchema = { type: 'object', properties: { count: { type: 'integer' } } };
      const config = { responseMimeType: 'application/json', responseJsonSchema };
      const { text } = await whole({ ...plain, config });
      expect(JSON.parse(text ?? '')).toEqual({ count: 1 });
    });

    it('a chat session keeps its history', async () => {
      const chat = client().chats.create({ model: 'demo-chat' });
      await chat.sendMessage({ message: 'first' });
      const { items } = await readAll(await chat.sendMessageStream({ message: 'second' }));
      expect(items.map(({ text }) => text ?? '').join('')).toContain('"second"');
      // The SDK keeps a streamed response in its pieces and sends them back so.
      expect((await chat.sendMessage({ message: 'third' })).text).toContain('"third"');
    });

    it('countTokens', async () => {
      const counted = await client().models.countTokens(plain);
      expect(counted.totalTokens).toBe((await whole(plain)).usageMetadata?.promptTokenCount);
    });

    it('the model list and one of it', async () => {
      const { items } = await readAll(await client().models.list());
      expect(items.map(({ name }) => name)).toContain('models/fast');
      const model = await client().models.get({ model: 'fast' });
      expect(model).toMatchObject({ name: 'models/fast', outputTokenLimit: 9000 });
      const missing = await failureOf(client().models.get({ model: 'no-such-model' }));
      expect(missing).toMatchObject({ name: 'ApiError', status: 404 });
    });
  });

  describe('tools and thoughts', () => {
    const results = ({ calls }: Gathered): Content => ({
      role: 'user',
      parts: calls.map(({ id, name }) => ({
        functionResponse: {
          ...(id !== undefined && { id }),
          ...(name !== undefined && { name }),
          response: { output: `${name} ok` },
        },
      })),
    });

    it.each(ways)('one call, parallel calls and their results, %s', async (_, ask) => {
      for (const [text, names] of [
        ['call tool get_weather', ['get_weather']],
        ['call tools', ['get_weather', 'get_time']],
      ] as const) {
        const params = { model: 'demo-chat', config: { tools } };
        const first = await ask({ ...params, contents: [said(text)] });
        expect(first.calls.map(({ name }) => name)).toEqual(names);
        expect(first.calls[0]?.args).toEqual({ city: 'demo city' });
        const contents = [said(text), first.content, results(first)];
        const last = await ask({ ...params, contents });
        expect(last.texts[0]).toContain(names.map((name) => `"${name} ok"`).join(' and '));
      }
    });

    it.each(ways)('the SDK calls functions by itself, %s', async (_, ask) => {
      const called: (string | undefined)[] = [];
      const callable: CallableTool = {
        tool: async () => tools[0]!,
        callTool: async (calls) =>
          calls.map(({ id, name = '' }) => {
            called.push(name);
            const response = { output: `${name} is done` };
            return { functionResponse: { ...(id !== undefined && { id }), name, response } };
          }),
      };
      const contents = 'call tool get_weather and then call tool get_time';
      const response = await ask({ model: 'demo-chat', contents, config: { tools: [callable] } });
      expect(called).toEqual(['get_weather', 'get_time']);
      expect(response.texts[0]).toContain('get_time is done');
    });

    it.each(ways)('signed thoughts come back over several turns, %s', async (_, ask) => {
      const config = { tools, thinkingConfig: { includeThoughts: true } };
      const params = { model: 'demo-reasoning', config };
      const history = [said('call tool get_weather and then call tool get_time')];
      for (const name of ['get_weather', 'get_time']) {
        const response = await ask({ ...params, contents: history });
        expect(response.thoughts).toContain('demo thinks');
        expect(response.signatures).toHaveLength(1);
        expect(response.calls).toMatchObject([{ name }]);
        history.push(response.content, results(response));
      }
      const last = await ask({ ...params, contents: history });
      expect(last.texts[0]).toContain('get_time ok');
      // The simulator refuses a signature that is not its own, so it has seen ours unchanged.
      const forged = JSON.parse(
        JSON.stringify(history).replaceAll(/"thoughtSignature":"..../g, '"thoughtSignature":"AAAA'),
      ) as Content[];
      expect(await failureOf(ask({ ...params, contents: forged }))).toMatchObject({ status: 400 });
    });
  });

  describe('errors', () => {
    const ask = (model: string) => failureOf(whole({ ...plain, model }));

    it('a wrong key', async () => {
      const wrong = client('sk-wrong-0123456789abcdefghijklmnop');
      const error = await failureOf(wrong.models.generateContent(plain));
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status: 401 });
      expect(JSON.parse(error.message)).toMatchObject({
        error: { code: 401, message: 'invalid api key', status: 'UNAUTHENTICATED' },
      });
    });

    it('no contents, an unknown model, one that the upstream does not have', async () => {
      const empty = await failureOf(whole({ model: 'demo-chat' } as GenerateContentParameters));
      expect(empty.message).toMatch(/contents (are|is) required/);
      const unknown = await ask('no-such-model');
      expect(unknown).toMatchObject({ status: 400 });
      expect(unknown.message).toContain("model 'no-such-model' is not available");
      expect((await ask('lost')).message).toContain("model 'lost' is not available");
    });

    it('every channel limited: 429 with the shorter wait', async () => {
      const error = await ask('limited');
      expect(error).toMatchObject({ status: 429 });
      expect(JSON.parse(error.message)).toMatchObject({
        error: {
          status: 'RESOURCE_EXHAUSTED',
          message: expect.stringMatching(/^quota exhausted, please retry later/),
          details: [{ retryDelay: expect.stringMatching(/^[1-7]s$/) }],
        },
      });
      expect(textOf(error)).not.toContain(canary);
    });

    it('a spare channel answers for a failing one', async () => {
      expect((await streamed({ ...plain, model: 'spared' })).texts[0]).toContain(question);
    });

    it.each([
      ['breaking', 'upstream response abnormal', 502],
      ['overloading', 'service overloaded, please retry later', 529],
      ['cutting', 'upstream response abnormal', 502],
      ['closing', 'upstream response abnormal', 502],
    ])('%s in mid-stream throws with the gateway’s words', async (model, message, status) => {
      const { items, error } = await chunksOf({ ...plain, model });
      expect(items.length).toBeGreaterThan(0);
      expect(items.some(({ candidates }) => candidates?.[0]?.finishReason)).toBe(false);
      expect(error).toBeInstanceOf(ApiError);
      expect(error).toMatchObject({ status });
      expect(error?.message).toContain(message);
      expect(textOf(error!)).not.toContain(canary);
    });
  });

  it.each(['cut-at', 'close-at'])(
    '%s inside the second of two candidates throws',
    async (fault) => {
      const one = (await chunksOf(plain)).items.length;
      const httpOptions = { headers: { 'x-simulator-fault': `${fault}=${one + 3}` } };
      const config = { candidateCount: 2, httpOptions };
      const { items, error } = await chunksOf({ ...plain, config });
      expect(items.length).toBeGreaterThan(6);
      expect(error?.message).toContain('upstream response abnormal');
    },
  );

  it('a mapped model name is the client’s in every response', async () => {
    expect((await whole({ ...plain, model: 'fast' })).modelVersion).toBe('fast');
    expect(received(gateway()).path).toContain('/models/demo-chat:');
    const { items } = await chunksOf({ ...plain, model: 'fast' });
    expect(new Set(items.map(({ modelVersion }) => modelVersion))).toEqual(new Set(['fast']));
  });
});

it('no error is logged', () => {
  expect(gateway().errors).toEqual([]);
});

/** What a client makes of one response, however it came. */
interface Gathered {
  readonly content: Content;
  readonly calls: NonNullable<GenerateContentResponse['functionCalls']>;
  /** Per candidate. */
  readonly texts: readonly string[];
  readonly thoughts: string;
  readonly signatures: readonly string[];
  readonly finish: string | undefined;
  readonly block: string | undefined;
  readonly prompt: number | undefined;
}

function gather(chunks: readonly GenerateContentResponse[]): Gathered {
  const texts: string[] = [];
  const first: NonNullable<Content['parts']> = [];
  for (const { index, content } of chunks.flatMap(({ candidates }) => candidates ?? [])) {
    for (const part of content?.parts ?? []) {
      if ((index ?? 0) === 0) first.push(part);
      if (part.thought !== true && part.text !== undefined) {
        texts[index ?? 0] = (texts[index ?? 0] ?? '') + part.text;
      }
    }
  }
  const last = chunks.at(-1);
  const thoughts = first.filter(({ thought }) => thought === true);
  return {
    content: { role: 'model', parts: first },
    calls: chunks.flatMap(({ functionCalls }) => functionCalls ?? []),
    texts,
    thoughts: thoughts.map(({ text }) => text ?? '').join(''),
    signatures: first.flatMap(({ thoughtSignature }) => thoughtSignature ?? []),
    finish: last?.candidates?.[0]?.finishReason,
    block: last?.promptFeedback?.blockReason,
    prompt: last?.usageMetadata?.promptTokenCount,
  };
}
