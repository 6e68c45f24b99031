import Anthropic from '@anthropic-ai/sdk';
import { type Content, type GenerateContentResponse, GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { testKey } from '../support/gateway.ts';
import type { ProtocolName } from './gateway.ts';

/** One way to ask, in the words of no protocol. */
export interface Ask {
  readonly model: string;
  readonly text: string;
  readonly stream: boolean;
  readonly tools?: boolean;
  readonly think?: boolean;
  readonly headers?: Record<string, string>;
}

export interface SdkCall {
  readonly id: string;
  readonly name: string;
  readonly input: unknown;
}

export interface SdkAnswer {
  readonly text: string;
  readonly reasoning: string;
  readonly calls: readonly SdkCall[];
  readonly finish: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Sends one result per call (`result 0`, `result 1`, …) after all that was said, as agents do. */
  goOn(): Promise<SdkAnswer>;
}

/** The finish that stands for "ended" and for "wants its tools" with each client. */
export const finishes: Readonly<
  Record<ProtocolName, { readonly end: string; readonly tools: string }>
> = {
  chat: { end: 'stop', tools: 'tool_calls' },
  responses: { end: 'completed', tools: 'completed' },
  messages: { end: 'end_turn', tools: 'tool_use' },
  'generate-content': { end: 'STOP', tools: 'STOP' },
};

const weather = {
  type: 'object' as const,
  properties: { city: { type: 'string' } },
  required: ['city'],
};
const nothing = { type: 'object' as const, properties: {} };
const tools = [
  { name: 'get_weather', schema: weather },
  { name: 'get_time', schema: nothing },
];

/** Asks through the vendor's own SDK, so that what it cannot read fails. */
export function askWithSdk(client: ProtocolName, url: string, ask: Ask): Promise<SdkAnswer> {
  switch (client) {
    case 'chat':
      return askChat(url, ask, [{ role: 'user', content: ask.text }]);
    case 'responses':
      return askResponses(url, ask, [{ role: 'user', content: ask.text }]);
    case 'messages':
      return askMessages(url, ask, [{ role: 'user', content: ask.text }]);
    case 'generate-content':
      return askGenerateContent(url, ask, [{ role: 'user', parts: [{ text: ask.text }] }]);
  }
}

const openai = (url: string, { headers }: Ask) =>
  new OpenAI({ apiKey: testKey, baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers });

async function askChat(
  url: string,
  ask: Ask,
  messages: OpenAI.ChatCompletionMessageParam[],
): Promise<SdkAnswer> {
  const params = {
    model: ask.model,
    messages,
    ...(ask.think && { reasoning_effort: 'medium' as const }),
    ...(ask.tools && {
      tools: tools.map(({ name, schema }) => ({
        type: 'function' as const,
        function: { name, parameters: schema },
      })),
    }),
  };
  const client = openai(url, ask);
  let reasoning = '';
  const streamed = async () => {
    const options = { stream_options: { include_usage: true } };
    const stream = client.chat.completions.stream({ ...params, ...options });
    // The SDK does not put together what its types do not know.
    stream.on('chunk', ({ choices }) => (reasoning += reasoningIn(choices[0]?.delta)));
    return stream.finalChatCompletion();
  };
  const answer = ask.stream ? await streamed() : await client.chat.completions.create(params);
  const [choice] = answer.choices;
  const message = choice!.message;
  const calls = (message.tool_calls ?? []).flatMap((call) =>
    call.type === 'function'
      ? [{ id: call.id, name: call.function.name, input: JSON.parse(call.function.arguments) }]
      : [],
  );
  const results = calls.map(({ id }, at) => ({
    role: 'tool' as const,
    tool_call_id: id,
    content: `result ${at}`,
  }));
  return {
    text: message.content ?? '',
    reasoning: ask.stream ? reasoning : reasoningIn(message),
    calls,
    finish: choice!.finish_reason,
    inputTokens: answer.usage?.prompt_tokens ?? -1,
    outputTokens: answer.usage?.completion_tokens ?? -1,
    // Most clients give back only what their types know.
    goOn: () =>
      askChat(url, ask, [
        ...messages,
        { role: 'assistant', content: message.content, tool_calls: message.tool_calls! },
        ...results,
      ]),
  };
}

function reasoningIn(message: object | undefined): string {
  const isThere = message !== undefined && 'reasoning_content' in message;
  return isThere && typeof message.reasoning_content === 'string' ? message.reasoning_content : '';
}

async function askResponses(
  url: string,
  ask: Ask,
  input: OpenAI.Responses.ResponseInputItem[],
): Promise<SdkAnswer> {
  const params = {
    model: ask.model,
    input,
    store: false,
    include: ['reasoning.encrypted_content' as const],
    ...(ask.think && { reasoning: { effort: 'medium' as const, summary: 'auto' as const } }),
    ...(ask.tools && {
      tools: tools.map(({ name, schema }) => ({
        type: 'function' as const,
        name,
        parameters: schema,
        strict: false,
      })),
    }),
  };
  const client = openai(url, ask);
  const answer = ask.stream
    ? await client.responses.stream(params).finalResponse()
    : await client.responses.create(params);
  const calls = answer.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
      : [],
  );
  const results = calls.map(({ id }, at) => ({
    type: 'function_call_output' as const,
    call_id: id,
    output: `result ${at}`,
  }));
  const reasoning = answer.output.flatMap((item) =>
    item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
  );
  return {
    text: answer.output_text,
    reasoning: reasoning.map(({ text }) => text).join(''),
    calls,
    finish: answer.status ?? '',
    inputTokens: answer.usage?.input_tokens ?? -1,
    outputTokens: answer.usage?.output_tokens ?? -1,
    goOn: () =>
      askResponses(url, ask, [
        ...input,
        ...(answer.output as OpenAI.Responses.ResponseInputItem[]),
        ...results,
      ]),
  };
}

async function askMessages(
  url: string,
  ask: Ask,
  messages: Anthropic.MessageParam[],
): Promise<SdkAnswer> {
  const client = new Anthropic({
    apiKey: testKey,
    baseURL: url,
    maxRetries: 0,
    defaultHeaders: ask.headers ?? {},
  });
  const params = {
    model: ask.model,
    max_tokens: 4000,
    messages,
    ...(ask.think && { thinking: { type: 'enabled' as const, budget_tokens: 2000 } }),
    ...(ask.tools && {
      tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })),
    }),
  };
  const answer = ask.stream
    ? await client.messages.stream(params).finalMessage()
    : await client.messages.create(params);
  const calls = answer.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  const results = calls.map(({ id }, at) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: `result ${at}`,
  }));
  return {
    text: answer.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: answer.content
      .map((block) => (block.type === 'thinking' ? block.thinking : ''))
      .join(''),
    calls,
    finish: answer.stop_reason ?? '',
    inputTokens: answer.usage.input_tokens + (answer.usage.cache_read_input_tokens ?? 0),
    outputTokens: answer.usage.output_tokens,
    goOn: () =>
      askMessages(url, ask, [
        ...messages,
        { role: 'assistant', content: answer.content as Anthropic.ContentBlockParam[] },
        { role: 'user', content: results },
      ]),
  };
}

async function askGenerateContent(url: string, ask: Ask, contents: Content[]): Promise<SdkAnswer> {
  const client = new GoogleGenAI({
    apiKey: testKey,
    httpOptions: { baseUrl: url, headers: ask.headers ?? {} },
  });
  const params = {
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
  };
  const chunks: GenerateContentResponse[] = [];
  if (ask.stream) {
    for await (const chunk of await client.models.generateContentStream(params)) {
      chunks.push(chunk);
    }
  } else chunks.push(await client.models.generateContent(params));
  const parts = chunks.flatMap(({ candidates }) => candidates?.[0]?.content?.parts ?? []);
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
    goOn: () =>
      askGenerateContent(url, ask, [
        ...contents,
        { role: 'model', parts },
        { role: 'user', parts: results },
      ]),
  };
}
