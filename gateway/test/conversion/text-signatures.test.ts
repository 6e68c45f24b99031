import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { verdict, type StreamTap } from '#protocols/index.ts';
import { convert, converterOf, readWire } from '../support/convert.ts';

/*
 * Gemini signs texts too, and the signature arrives after the text. Clients of Messages show the last block of a
 * response, and clients of Responses make a turn of every reasoning item: neither may stand after the text.
 */

const upstream = {
  protocol: 'generate-content',
  provider: 'gemini',
  model: 'gemini-3.1-pro-preview',
} as const;
const echo = { clientModel: 'm', upstreamModel: upstream.model };

type Json = Record<string, unknown>;

interface Client {
  /** The body for the turns so far: what was asked, and every answer as the client keeps it. */
  readonly ask: (turns: readonly (string | Json | readonly Json[])[]) => Json;
  /** What the client keeps of an answer, and its last entry is what it shows. */
  readonly kept: (answer: Json) => readonly Json[];
  /** An answer from the frames of its stream. */
  readonly read: (frames: string) => Promise<Json>;
}

const eventsOf = (frames: string) =>
  [...frames.matchAll(/^data: (\{.*\})$/gm)].map(([, data]) => JSON.parse(data ?? '') as Json);

const clients: Readonly<Record<Exclude<TextProtocolName, 'generate-content'>, Client>> = {
  messages: {
    ask: (turns) => ({
      model: 'm',
      max_tokens: 2000,
      messages: turns.map((turn) =>
        typeof turn === 'string'
          ? { role: 'user', content: turn }
          : { role: 'assistant', content: turn },
      ),
    }),
    kept: ({ content }) => content as Json[],
    read: async (frames) => {
      const lines = eventsOf(frames).map((event) => `${JSON.stringify(event)}\n`);
      const stream = MessageStream.fromReadableStream(
        ReadableStream.from(lines.map((line) => Buffer.from(line))),
      );
      return JSON.parse(JSON.stringify(await stream.finalMessage())) as Json;
    },
  },
  responses: {
    ask: (turns) => ({
      model: 'm',
      store: false,
      include: ['reasoning.encrypted_content'],
      input: turns.flatMap((turn) =>
        typeof turn === 'string' ? [{ role: 'user', content: turn }] : (turn as Json[]),
      ),
    }),
    kept: ({ output }) => output as Json[],
    read: async (frames) =>
      eventsOf(frames).find(({ type }) => type === 'response.completed')?.['response'] as Json,
  },
  chat: {
    ask: (turns) => ({
      model: 'm',
      messages: turns.map((turn) =>
        typeof turn === 'string' ? { role: 'user', content: turn } : (turn as Json[])[0],
      ),
    }),
    kept: ({ choices }) => {
      const { role, content } = (choices as { message: Json }[])[0]?.message ?? {};
      // Most of these clients keep nothing else.
      return [{ role, content }];
    },
    read: async (frames) => {
      const texts = eventsOf(frames).map(
        ({ choices }) => (choices as { delta: { content?: string } }[])[0]?.delta.content ?? '',
      );
      return { choices: [{ message: { role: 'assistant', content: texts.join('') } }] };
    },
  },
};

/** The answer of a turn, in which the signature comes with the text, or after it as in a stream. */
function answerOf(turn: number, isStreamed: boolean): Json[] {
  const signature = Buffer.from(`signature ${turn}`).toString('base64');
  const finish = { finishReason: 'STOP', index: 0 };
  const chunk = (parts: Json[], more = {}) => ({
    candidates: [{ content: { role: 'model', parts }, ...more }],
  });
  return isStreamed
    ? [
        chunk([{ text: 'Answer ' }], { index: 0 }),
        chunk([{ text: `${turn}.` }], { index: 0 }),
        chunk([{ text: '', thoughtSignature: signature }], finish),
      ]
    : [chunk([{ text: `Answer ${turn}.`, thoughtSignature: signature }], finish)];
}

function streamed(tap: StreamTap, chunks: readonly Json[]): string {
  const frames = chunks.map((chunk) => {
    const data = Buffer.from(JSON.stringify(chunk));
    const raw = Buffer.from(`data: ${String(data)}\n\n`);
    const flags = tap.inspect({ raw, name: null, data });
    return (flags & verdict.replace) === 0 ? '' : String(tap.replacement);
  });
  return frames.join('') + tap.completion();
}

test.each(
  (Object.entries(clients) as [TextProtocolName, Client][]).flatMap(([client, each]) =>
    [true, false].map((isStreamed) => [client, isStreamed ? 'a stream' : 'whole', each] as const),
  ),
)(
  'signatures of texts return from %s clients that got %s, and nothing stands after a text',
  async (client, form, { ask, kept, read }) => {
    const isStreamed = form === 'a stream';
    const converter = converterOf();
    const turns: (string | readonly Json[])[] = [];
    const count = 20;
    for (let turn = 0; turn < count; turn++) {
      turns.push(`Question ${turn}?`);
      const json = { ...ask(turns), ...(isStreamed && { stream: true }) };
      const { reader, body } = await convert({
        client,
        request: readWire(client, json),
        target: upstream,
        converter,
      });
      const { contents } = JSON.parse(String(body)) as {
        contents: { role: string; parts: Json[] }[];
      };
      const said = contents.filter(({ role }) => role === 'model').flatMap(({ parts }) => parts);
      expect(said).toEqual(
        Array.from({ length: turn }, (_, at) => ({
          text: `Answer ${at}.`,
          thoughtSignature: Buffer.from(`signature ${at}`).toString('base64'),
        })),
      );
      const chunks = answerOf(turn, isStreamed);
      const answer = isStreamed
        ? await read(streamed(reader.createStreamTap({ ...echo, usageInjected: false }), chunks))
        : (JSON.parse(
            String(reader.readResponse(Buffer.from(JSON.stringify(chunks[0])), echo).body),
          ) as Json);
      const blocks = kept(answer);
      expect(JSON.stringify(blocks.at(-1))).toContain(`Answer ${turn}.`);
      turns.push(blocks);
    }
  },
);
