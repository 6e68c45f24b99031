import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '../../src/canonical/index.ts';
import { readEvents, sameNames } from '../recordings/tap-run.ts';
import { convert, readWireText } from '../support/convert.ts';
import { readerOf } from '../support/converted-reader.ts';

const long = '12345678901234567890';
const args = `{"id":${long},"small":1,"float":0.1}`;
const written = JSON.stringify(args);

const asked: Readonly<Record<TextProtocolName, string>> = {
  chat: `{"model":"m","messages":[{"role":"user","content":"x"},
    {"role":"assistant","tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":${written}}}]},
    {"role":"tool","tool_call_id":"c","content":"ok"}]}`,
  responses: `{"model":"m","input":[{"role":"user","content":"x"},
    {"type":"function_call","call_id":"c","name":"f","arguments":${written}},
    {"type":"function_call_output","call_id":"c","output":"ok"}]}`,
  messages: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"x"},
    {"role":"assistant","content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]},
    {"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":"ok"}]}]}`,
  'generate-content': `{"contents":[{"role":"user","parts":[{"text":"x"}]},
    {"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]},
    {"role":"user","parts":[{"functionResponse":{"name":"f","response":{"id":${long}}}}]}]}`,
};

const answers: Readonly<Record<'messages' | 'generate-content', string>> = {
  messages: `{"type":"message","role":"assistant","stop_reason":"tool_use",
    "content":[{"type":"tool_use","id":"c","name":"f","input":${args}}]}`,
  'generate-content': `{"candidates":[{"finishReason":"STOP",
    "content":{"role":"model","parts":[{"functionCall":{"name":"f","args":${args}}}]}}]}`,
};

const clients = Object.keys(asked) as TextProtocolName[];

describe('integers beyond 2^53 in the arguments of calls', () => {
  it.each(clients.flatMap((client) => clients.map((upstream) => [client, upstream] as const)))(
    'asked by %s of %s, are the same digits',
    async (client, upstream) => {
      if (client === upstream) return;
      const request = readWireText(client, asked[client]);
      const { body } = await convert({ client, request, target: { protocol: upstream } });
      expect(String(body)).toContain(long);
      expect(String(body)).toMatch(/small\\?":1/);
      expect(String(body)).not.toContain('12345678901234567000');
    },
  );

  it.each(
    clients.flatMap((client) =>
      (['messages', 'generate-content'] as const).map((upstream) => [upstream, client] as const),
    ),
  )('answered by %s to %s, are the same digits', (upstream, client) => {
    if (client === upstream) return;
    const { body } = readerOf(upstream, client).readResponse(
      Buffer.from(answers[upstream]),
      sameNames,
    );
    expect(String(body)).toContain(long);
  });

  it('streamed by generate-content, are the same digits', () => {
    const line = answers['generate-content'].replaceAll('\n', '');
    for (const client of ['chat', 'responses', 'messages'] as const) {
      const tap = readerOf('generate-content', client).createStreamTap(sameNames);
      let sent = '';
      for (const event of readEvents([Buffer.from(`data: ${line}\n\n`)])) {
        tap.inspect(event);
        sent += String(tap.replacement);
      }
      expect(sent + tap.completion()).toContain(long);
    }
  });

  it('a request’s own numbers stay numbers', async () => {
    const text = asked.messages.replace('"max_tokens":9', '"max_tokens":9,"top_k":5');
    const request = readWireText('messages', text);
    const target = { protocol: 'generate-content' } as const;
    const { body } = await convert({ client: 'messages', request, target });
    expect(String(body)).toContain('"topK":5');
  });
});
