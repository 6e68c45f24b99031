import OpenAI from 'openai';
import { zodResponseFormat } from 'openai/helpers/zod';
import { testKey } from '../../support/gateway.ts';
import { city, nextAsk, tools, type Ask, type SdkResponse, type SdkClient } from './ask.ts';

export const chat: SdkClient = {
  ask: (url, ask) => converse(url, ask, [{ role: 'user', content: contentOf(ask) }]),

  async parse(url, ask) {
    const params = {
      model: ask.model,
      messages: [{ role: 'user' as const, content: ask.text }],
      response_format: zodResponseFormat(city, 'city'),
    };
    const { completions } = openai(url, ask).chat;
    const response = ask.stream
      ? await completions.stream({ ...params, stream: true }).finalChatCompletion()
      : await completions.parse(params);
    return response.choices[0]?.message.parsed;
  },
};

export const openai = (url: string, { headers }: Ask) =>
  new OpenAI({ apiKey: testKey, baseURL: `${url}/v1`, maxRetries: 0, defaultHeaders: headers });

function contentOf({ text, image }: Ask): string | OpenAI.ChatCompletionContentPart[] {
  if (image === undefined) return text;
  return [
    { type: 'text', text },
    { type: 'image_url', image_url: { url: image } },
  ];
}

async function converse(
  url: string,
  ask: Ask,
  messages: OpenAI.ChatCompletionMessageParam[],
): Promise<SdkResponse> {
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
  const { completions } = openai(url, ask).chat;
  let reasoning = '';
  const streamed = async () => {
    const stream = completions.stream({ ...params, stream_options: { include_usage: true } });
    // The SDK does not put together what its types do not know.
    stream.on('chunk', ({ choices }) => (reasoning += reasoningIn(choices[0]?.delta)));
    return stream.finalChatCompletion();
  };
  const response = ask.stream ? await streamed() : await completions.create(params);
  const [choice] = response.choices;
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
    inputTokens: response.usage?.prompt_tokens ?? -1,
    outputTokens: response.usage?.completion_tokens ?? -1,
    // Most clients give back only what their types know.
    goOn: (next) =>
      converse(url, nextAsk(ask, next), [
        ...messages,
        {
          role: 'assistant',
          content: message.content,
          ...(message.tool_calls !== undefined &&
            calls.length > 0 && { tool_calls: message.tool_calls }),
        },
        ...results,
        ...(next?.text === undefined ? [] : [{ role: 'user' as const, content: next.text }]),
      ]),
  };
}

function reasoningIn(message: object | undefined): string {
  const isThere = message !== undefined && 'reasoning_content' in message;
  return isThere && typeof message.reasoning_content === 'string' ? message.reasoning_content : '';
}
