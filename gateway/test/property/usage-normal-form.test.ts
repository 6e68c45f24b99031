import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedUsage, TextProtocolName, TokenUsage } from '#canonical/index.ts';
import { textCodecs, textProtocols } from '#protocols/index.ts';
import { requestOf } from '../support/canonical.ts';
import { protocolPairs } from '../support/convert.ts';

/* P-10: what the readers of the protocols make of usage is ≥ 0 in every part and adds up to what the provider said. */

const envelopes: Record<TextProtocolName, (usage: unknown) => object> = {
  chat: (usage) => ({ choices: [], usage }),
  responses: (usage) => ({ output: [], usage }),
  messages: (usage) => ({ content: [], usage }),
  'generate-content': (usageMetadata) => ({ candidates: [], usageMetadata }),
};

function read(protocol: TextProtocolName, usage: unknown): ReportedUsage | null {
  const body = Buffer.from(JSON.stringify(envelopes[protocol](usage)));
  return textProtocols[protocol].readResponse(body, { clientModel: 'm', upstreamModel: 'm' }).usage;
}

const total = ({ input, cacheRead, cacheWrite, cacheWrite1h, output }: TokenUsage) =>
  input + cacheRead + cacheWrite + cacheWrite1h + output;

const count = fc.nat(1_000_000);

/** The usage of a response as the codec of the protocol writes it for its clients. */
function write(protocol: TextProtocolName, usage: TokenUsage): unknown {
  const context = {
    requestId: 'r',
    model: 'm',
    createdAt: 1,
    request: requestOf({}),
    inputTokens: 1,
  };
  const json = textCodecs[protocol].encodeResponse(
    { candidates: [], extensions: [] },
    usage,
    context,
  );
  return json[protocol === 'generate-content' ? 'usageMetadata' : 'usage'];
}

const reported: Readonly<Record<TextProtocolName, fc.Arbitrary<object>>> = {
  chat: fc.record({
    prompt_tokens: count,
    completion_tokens: count,
    prompt_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    completion_tokens_details: fc.record({ reasoning_tokens: count }),
  }),
  responses: fc.record({
    input_tokens: count,
    output_tokens: count,
    input_tokens_details: fc.record({ cached_tokens: count, cache_write_tokens: count }),
    output_tokens_details: fc.record({ reasoning_tokens: count }),
  }),
  messages: fc.record({
    input_tokens: count,
    output_tokens: count,
    cache_read_input_tokens: count,
    cache_creation_input_tokens: count,
    output_tokens_details: fc.record({ thinking_tokens: count }),
  }),
  'generate-content': fc.record({
    promptTokenCount: count,
    cachedContentTokenCount: count,
    toolUsePromptTokenCount: count,
    candidatesTokenCount: count,
    thoughtsTokenCount: count,
  }),
};

/** Every number in it, wherever it stands. */
function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('usage in normal form', () => {
  it.each([
    ['chat', 'prompt_tokens', 'completion_tokens'],
    ['responses', 'input_tokens', 'output_tokens'],
  ] as const)('%s: adds up to the total', (protocol, inputName, outputName) => {
    fc.assert(
      fc.property(
        count,
        count,
        count,
        count,
        count,
        (plain, read_, written, response, thoughts) => {
          const prompt = plain + read_ + written;
          const output = response + thoughts;
          const usage = read(protocol, {
            [inputName]: prompt,
            [outputName]: output,
            [`${inputName}_details`]: { cached_tokens: read_, cache_write_tokens: written },
            [`${outputName}_details`]: { reasoning_tokens: thoughts },
            total_tokens: prompt + output,
          });
          expect(usage?.tokens).toEqual({
            input: plain,
            cacheRead: read_,
            cacheWrite: written,
            cacheWrite1h: 0,
            output,
            reasoning: thoughts,
          });
          expect(total(usage?.tokens as TokenUsage)).toBe(prompt + output);
        },
      ),
    );
  });

  it('messages: adds up to input, cache and output', () => {
    fc.assert(
      fc.property(count, count, count, count, count, (plain, read_, short, long, output) => {
        const usage = read('messages', {
          input_tokens: plain,
          cache_read_input_tokens: read_,
          cache_creation_input_tokens: short + long,
          cache_creation: {
            ephemeral_5m_input_tokens: short,
            ephemeral_1h_input_tokens: long,
          },
          output_tokens: output,
        });
        expect(total(usage?.tokens as TokenUsage)).toBe(plain + read_ + short + long + output);
        expect(usage?.tokens).toMatchObject({ cacheWrite: short, cacheWrite1h: long });
      }),
    );
  });

  it('generate-content: adds up to the total', () => {
    fc.assert(
      fc.property(count, count, count, count, count, (plain, cached, tools, response, thoughts) => {
        const sum = plain + cached + tools + response + thoughts;
        const usage = read('generate-content', {
          promptTokenCount: plain + cached,
          cachedContentTokenCount: cached,
          toolUsePromptTokenCount: tools,
          candidatesTokenCount: response,
          thoughtsTokenCount: thoughts,
          totalTokenCount: sum,
        });
        expect(total(usage?.tokens as TokenUsage)).toBe(sum);
      }),
    );
  });

  it.each(['chat', 'responses', 'messages', 'generate-content'] as const)(
    '%s: no part is negative or fractional, whatever is reported',
    (protocol) => {
      const names =
        'prompt_tokens input_tokens completion_tokens output_tokens total_tokens cached_tokens cache_read_input_tokens cache_creation_input_tokens promptTokenCount cachedContentTokenCount toolUsePromptTokenCount candidatesTokenCount thoughtsTokenCount';
      const anything = fc.oneof(count, fc.integer(), fc.double(), fc.string(), fc.constant(null));
      fc.assert(
        fc.property(fc.dictionary(fc.constantFrom(...names.split(' ')), anything), (usage) => {
          for (const part of Object.values(read(protocol, usage)?.tokens ?? {})) {
            expect(Number.isSafeInteger(part) && part >= 0).toBe(true);
          }
        }),
      );
    },
  );
});

describe.each(protocolPairs)(
  'usage of $upstream reported to a client of $client',
  ({ client, upstream }) => {
    it('is the same sums, cache and output, and never below zero', () => {
      fc.assert(
        fc.property(reported[upstream], (usage) => {
          const tokens = read(upstream, usage)?.tokens as TokenUsage;
          const told = write(client, tokens);
          const negative = numbersIn(told).filter((number) => number < 0);
          expect([told, negative]).toEqual([told, []]);
          const understood = read(client, told)?.tokens as TokenUsage;
          expect({ ...understood, all: total(understood) }).toMatchObject({
            all: total(tokens),
            cacheRead: tokens.cacheRead,
            output: tokens.output,
          });
        }),
      );
    });
  },
);
