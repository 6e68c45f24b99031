import { type Content, type GenerateContentResponse, GoogleGenAI, type Part } from '@google/genai';
import { z } from 'zod';
import { testKey } from '../../support/gateway.ts';
import {
  city,
  inlineOf,
  nextAsk,
  tools,
  type Ask,
  type SdkResponse,
  type SdkClient,
} from './ask.ts';

export const generateContent: SdkClient = {
  ask: (url, ask) => converse(url, ask, [{ role: 'user', parts: partsOf(ask) }]),

  async parse(url, ask) {
    const params = {
      model: ask.model,
      contents: ask.text,
      config: {
        responseMimeType: 'application/json',
        responseJsonSchema: z.toJSONSchema(city),
      },
    };
    const chunks = await collect(url, ask, params);
    // This SDK leaves the reading to its caller.
    return city.parse(JSON.parse(chunks.map(({ text }) => text ?? '').join('')));
  },
};

function partsOf({ text, image }: Ask): Part[] {
  if (image === undefined) return [{ text }];
  const inline = inlineOf(image);
  return [
    { text },
    inline === null
      ? { fileData: { mimeType: 'image/png', fileUri: image } }
      : { inlineData: { mimeType: inline.mime, data: inline.base64 } },
  ];
}

type Params = Parameters<GoogleGenAI['models']['generateContent']>[0];

async function collect(url: string, ask: Ask, params: Params): Promise<GenerateContentResponse[]> {
  const { models } = new GoogleGenAI({
    apiKey: testKey,
    httpOptions: { baseUrl: url, headers: ask.headers ?? {} },
  });
  if (!ask.stream) return [await models.generateContent(params)];
  const chunks: GenerateContentResponse[] = [];
  for await (const chunk of await models.generateContentStream(params)) chunks.push(chunk);
  return chunks;
}

async function converse(url: string, ask: Ask, contents: Content[]): Promise<SdkResponse> {
  const chunks = await collect(url, ask, {
    model: ask.model,
    contents,
    config: {
      ...(ask.think && { thinkingConfig: { includeThoughts: true, thinkingBudget: 2000 } }),
      ...(ask.tools && {
        tools: [
          {
            functionDeclarations: tools.map(({ name, schema }) => ({
              name,
              parametersJsonSchema: schema,
            })),
          },
        ],
      }),
    },
  });
  // As the SDK's own chats do, what says nothing is not given back: it would be refused.
  const parts = chunks
    .flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? [])
    .filter((part) => part.text !== '' || part.thoughtSignature !== undefined);
  const calls = parts.flatMap(({ functionCall }) =>
    functionCall === undefined
      ? []
      : [{ id: functionCall.id ?? '', name: functionCall.name ?? '', input: functionCall.args }],
  );
  const results = calls.map(({ id, name }, at) => ({
    functionResponse: { ...(id !== '' && { id }), name, response: { output: `result ${at}` } },
  }));
  const usage = chunks.at(-1)?.usageMetadata;
  const textOf = (thought: boolean) =>
    parts
      .filter((part) => (part.thought === true) === thought)
      .map(({ text }) => text ?? '')
      .join('');
  return {
    text: textOf(false),
    reasoning: textOf(true),
    calls,
    finish: chunks.at(-1)?.candidates?.[0]?.finishReason ?? '',
    inputTokens: usage?.promptTokenCount ?? -1,
    outputTokens: (usage?.candidatesTokenCount ?? -1) + (usage?.thoughtsTokenCount ?? 0),
    goOn: (next) =>
      converse(url, nextAsk(ask, next), [
        ...contents,
        { role: 'model', parts },
        {
          role: 'user',
          parts: [...results, ...(next?.text === undefined ? [] : [{ text: next.text }])],
        },
      ]),
  };
}
