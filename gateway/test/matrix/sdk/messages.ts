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
    const answer = ask.stream
      ? await client.stream(params).finalMessage()
      : await client.parse(params);
    return answer.parsed_output;
  },
};

const anthropic = (url: string, { headers = {} }: Ask) =>
  new Anthropic({ apiKey: testKey, baseURL: url, maxRetries: 0, defaultHeaders: headers });

function contentOf({ text, picture }: Ask): string | Anthropic.ContentBlockParam[] {
  if (picture === undefined) return text;
  const inline = inlineOf(picture);
  const source: Anthropic.ImageBlockParam['source'] =
    inline === null
      ? { type: 'url', url: picture }
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
  const answer = ask.stream
    ? await client.stream(params).finalMessage()
    : await client.create(params);
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
    goOn: (next) =>
      converse(url, nextAsk(ask, next), [
        ...conversation,
        { role: 'assistant', content: answer.content as Anthropic.ContentBlockParam[] },
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
