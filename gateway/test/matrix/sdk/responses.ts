import type OpenAI from 'openai';
import { zodTextFormat } from 'openai/helpers/zod';
import { city, nextAsk, tools, type Ask, type SdkResponse, type SdkClient } from './ask.ts';
import { openai } from './chat.ts';

type Item = OpenAI.Responses.ResponseInputItem;

export const responses: SdkClient = {
  ask: (url, ask) => converse(url, ask, [{ role: 'user', content: contentOf(ask) }]),

  async parse(url, ask) {
    const params = {
      model: ask.model,
      input: ask.text,
      store: false,
      text: { format: zodTextFormat(city, 'city') },
    };
    const client = openai(url, ask).responses;
    const response = ask.stream
      ? await client.stream(params).finalResponse()
      : await client.parse(params);
    return response.output_parsed;
  },
};

function contentOf({ text, image }: Ask): string | OpenAI.Responses.ResponseInputContent[] {
  if (image === undefined) return text;
  return [
    { type: 'input_text', text },
    { type: 'input_image', image_url: image, detail: 'auto' },
  ];
}

async function converse(url: string, ask: Ask, input: Item[]): Promise<SdkResponse> {
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
  const client = openai(url, ask).responses;
  const response = ask.stream
    ? await client.stream(params).finalResponse()
    : await client.create(params);
  const calls = response.output.flatMap((item) =>
    item.type === 'function_call'
      ? [{ id: item.call_id, name: item.name, input: JSON.parse(item.arguments) }]
      : [],
  );
  const results = calls.map(({ id }, at) => ({
    type: 'function_call_output' as const,
    call_id: id,
    output: `result ${at}`,
  }));
  const reasoning = response.output.flatMap((item) =>
    item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : [],
  );
  return {
    text: response.output_text,
    reasoning: reasoning.map(({ text }) => text).join(''),
    calls,
    finish: response.status ?? '',
    inputTokens: response.usage?.input_tokens ?? -1,
    outputTokens: response.usage?.output_tokens ?? -1,
    goOn: (next) =>
      converse(url, nextAsk(ask, next), [
        ...input,
        ...(response.output as Item[]),
        ...results,
        ...(next?.text === undefined ? [] : [{ role: 'user' as const, content: next.text }]),
      ]),
  };
}
