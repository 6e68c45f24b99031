import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { capOutput } from './cap-output.ts';
import type { OutputCap } from '../../protocol.ts';

const cap: OutputCap = { tokens: 700, usual: null, chatMember: 'max_tokens' };

function capped(protocol: TextProtocolName, text: string, more: Partial<OutputCap> = {}) {
  const patched = { body: Buffer.from(text), rewrites: ['b1'], usageInjected: false };
  const { body, rewrites } = capOutput(patched, protocol, { ...cap, ...more });
  return [body.toString(), ...rewrites];
}

describe('the output limit is lowered', () => {
  it.each<[TextProtocolName, string, string]>([
    ['chat', '{ "max_tokens" : 9000, "n":1.0 }', '{ "max_tokens" : 700, "n":1.0 }'],
    [
      'chat',
      '{"max_tokens":9000,"max_completion_tokens":8000}',
      '{"max_tokens":700,"max_completion_tokens":700}',
    ],
    [
      'chat',
      '{"max_tokens":500,"max_completion_tokens":8000}',
      '{"max_tokens":500,"max_completion_tokens":700}',
    ],
    ['chat', '{"max_tokens":null,"n":1}', '{"max_tokens":700,"n":1}'],
    ['chat', '{"n":1}', '{"max_tokens":700,"n":1}'],
    ['chat', '{ }', '{"max_tokens":700 }'],
    ['responses', '{"input":"x"}', '{"max_output_tokens":700,"input":"x"}'],
    ['responses', '{"max_output_tokens":701}', '{"max_output_tokens":700}'],
    ['messages', '{"max_tokens":64000}', '{"max_tokens":700}'],
    [
      'generate-content',
      '{"contents":[]}',
      '{"generationConfig":{"maxOutputTokens":700},"contents":[]}',
    ],
    [
      'generate-content',
      '{"generationConfig":null}',
      '{"generationConfig":{"maxOutputTokens":700}}',
    ],
    [
      'generate-content',
      '{"generationConfig":{"topP":1.0}}',
      '{"generationConfig":{"maxOutputTokens":700,"topP":1.0}}',
    ],
    [
      'generate-content',
      '{"generation_config":{"max_output_tokens":9000}}',
      '{"generation_config":{"max_output_tokens":700}}',
    ],
  ])('%s: %s', (protocol, text, expected) => {
    expect(capped(protocol, text)).toEqual([expected, 'b1', 'm1']);
  });

  it('in the member that this upstream takes', () => {
    expect(capped('chat', '{"n":1}', { chatMember: 'max_completion_tokens' })).toEqual([
      '{"max_completion_tokens":700,"n":1}',
      'b1',
      'm1',
    ]);
  });
});

describe('a request stays as it is', () => {
  it.each<[TextProtocolName, string]>([
    ['chat', '{"max_tokens":700}'],
    ['chat', '{"max_tokens":9000,"thinking":{"budget_tokens":700}}'],
    ['chat', '{"reasoning":{"max_tokens":4000}}'],
    ['chat', '{"extra_body":{"google":{"thinking_config":{"thinking_budget":800}}}}'],
    ['messages', '{"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":8000}}'],
    ['generate-content', '{"generationConfig":{"thinkingConfig":{"thinkingBudget":1024}}}'],
    ['generate-content', '{"generation_config":{"thinking_config":{"thinking_budget":1024}}}'],
  ])('%s: %s', (protocol, text) => {
    expect(capped(protocol, text)).toEqual([text, 'b1']);
  });

  it('where the upstream stops earlier by itself', () => {
    for (const protocol of ['chat', 'responses', 'generate-content'] as const) {
      expect(capped(protocol, '{}', { usual: 700 })).toEqual(['{}', 'b1']);
    }
  });
});
