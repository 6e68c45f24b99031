import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ReportedUsage, TextProtocolName, TokenUsage } from '../../src/canonical/index.ts';
import { textProtocols } from '../../src/protocols/index.ts';

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

describe('usage in normal form', () => {
  it.each([
    ['chat', 'prompt_tokens', 'completion_tokens'],
    ['responses', 'input_tokens', 'output_tokens'],
  ] as const)('%s: adds up to the total', (protocol, inputName, outputName) => {
    fc.assert(
      fc.property(count, count, count, count, count, (plain, read_, written, answer, thoughts) => {
        const prompt = plain + read_ + written;
        const output = answer + thoughts;
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
      }),
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
      fc.property(count, count, count, count, count, (plain, cached, tools, answer, thoughts) => {
        const sum = plain + cached + tools + answer + thoughts;
        const usage = read('generate-content', {
          promptTokenCount: plain + cached,
          cachedContentTokenCount: cached,
          toolUsePromptTokenCount: tools,
          candidatesTokenCount: answer,
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
