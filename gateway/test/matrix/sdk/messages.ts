import Anthropic from '@anthropic-ai/sdk';
import { zodOutputFormat } from '@anthropic-ai/sdk/helpers/zod';
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

export const messages: SdkClient = {
  ask: (url, ask) => converse(url, ask, [{ role: 'user', content: contentOf(ask) }]),

  async parse(url, ask) {
    const params = {
      model: ask.model,
      max_tokens: 4000,
      messages: [{ role: 'user' as const, content: ask.text }],
      output_config: { format: zodOutputFormat(city) },
    };
    const client = anthropic(url, ask).messages;
    const response = ask.stream
      ? await client.stream(params).finalMessage()
      : await client.parse(params);
    return response.parsed_output;
  },
};

const anthropic = (url: string, { headers = {} }: Ask) =>
  new Anthropic({ apiKey: testKey, baseURL: url, maxRetries: 0, defaultHeaders: headers });

function contentOf({ text, image }: Ask): string | Anthropic.ContentBlockParam[] {
  if (image === undefined) return text;
  const inline = inlineOf(image);
  const source: Anthropic.ImageBlockParam['source'] =
    inline === null
      ? { type: 'url', url: image }
      : { type: 'base64', media_type: 'image/png', data: inline.base64 };
  return [
    { type: 'text', text },
    { type: 'image', source },
  ];
}

async function converse(
  url: string,
  ask: Ask,
  conversation: Anthropic.MessageParam[],
): Promise<SdkResponse> {
  const params = {
    model: ask.model,
    max_tokens: 4000,
    messages: conversation,
    ...(ask.think && { thinking: { type: 'enabled' as const, budget_tokens: 2000 } }),
    ...(ask.tools && {
      tools: tools.map(({ name, schema }) => ({ name, input_schema: schema })),
    }),
  };
  const client = anthropic(url, ask).messages;
  const response = ask.stream
    ? await client.stream(params).finalMessage()
    : await client.create(params);
  const calls = response.content.flatMap((block) =>
    block.type === 'tool_use' ? [{ id: block.id, name: block.name, input: block.input }] : [],
  );
  const results = calls.map(({ id }, at) => ({
    type: 'tool_result' as const,
    tool_use_id: id,
    content: `result ${at}`,
  }));
  return {
    text: response.content.map((block) => (block.type === 'text' ? block.text : '')).join(''),
    reasoning: response.content
      .map((block) => (block.type === 'thinking' ? block.thinking : ''))
      .join(''),
    calls,
    finish: response.stop_reason ?? '',
    inputTokens: response.usage.input_tokens + (response.usage.cache_read_input_tokens ?? 0),
    outputTokens: response.usage.output_tokens,
    goOn: (next) =>
      converse(url, nextAsk(ask, next), [
        ...conversation,
        { role: 'assistant', content: response.content as Anthropic.ContentBlockParam[] },
        {
          role: 'user',
          content: [
            ...results,
            ...(next?.text === undefined ? [] : [{ type: 'text' as const, text: next.text }]),
          ],
        },
      ]),
  };
}
