import fc from 'fast-check';
import { describe, test } from 'vitest';
import { toFileText } from '#declaration/index.ts';
import { createNotes, readOtherGateway, toFile } from '#importers/other-gateways/index.ts';
import { readImported } from '../support/imported-file.ts';

const odd = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom(
    '',
    ' ',
    'a',
    'a,b,a',
    'gpt-4o',
    '${X}',
    '$${',
    '*',
    '-5',
    '{"a":"b","b":"a"}',
    'https://u:p@h/?q',
  ),
  fc.constantFrom(null, true, 0, 1, 2.5, -3, 14, 1e99, [], ['a'], {}),
);
const someOf = (...keys: readonly string[]) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, odd])), { requiredKeys: [] });

describe('check accepts the written file, whatever the other file contains', () => {
  function written(gateway: 'litellm' | 'new-api', text: string): void {
    const notes = createNotes();
    const file = toFile(readOtherGateway(gateway, text, notes), notes);
    readImported(toFileText('test', file), notes.variables);
  }

  test('of new-api', () => {
    const channel = fc
      .tuple(
        fc.record({
          type: fc.constantFrom(1, 8, 14, 24, 40, '1'),
          models: fc.oneof(odd, fc.constant('m,n')),
        }),
        someOf(
          'id',
          'name',
          'status',
          'base_url',
          'group',
          'model_mapping',
          'priority',
          'weight',
          'key',
          'channel_info',
          'setting',
        ),
      )
      .map(([first, more]) => ({ ...more, ...first }));
    fc.assert(
      fc.property(fc.array(channel, { minLength: 1, maxLength: 4 }), (data) =>
        written('new-api', JSON.stringify({ data })),
      ),
      { numRuns: 200 },
    );
  });

  test('of LiteLLM', () => {
    const params = fc
      .tuple(
        fc.record({
          model: fc.oneof(odd, fc.constantFrom('gpt-4o', 'openai/x', 'hosted_vllm/y', 'groq/z')),
          order: fc.oneof(odd, fc.constantFrom(undefined, 1, 2.5, 3_000_000)),
        }),
        someOf(
          'api_base',
          'api_key',
          'weight',
          'rpm',
          'organization',
          'input_cost_per_token',
          'output_cost_per_token',
          'timeout',
        ),
        fc.option(fc.dictionary(fc.string({ maxLength: 5 }), odd, { maxKeys: 2 }), {
          nil: undefined,
        }),
      )
      .map(([first, more, extra_headers]) => ({ ...more, ...first, extra_headers }));
    const file = fc.record({
      model_list: fc.array(
        fc.record({ model_name: fc.oneof(odd, fc.constantFrom('n', 'm')), litellm_params: params }),
        { maxLength: 4 },
      ),
      router_settings: fc.record({
        model_group_alias: fc.dictionary(fc.string(), fc.oneof(odd, fc.constant('m'))),
      }),
      general_settings: someOf('master_key', 'database_url'),
    });
    fc.assert(
      fc.property(file, (value) => written('litellm', JSON.stringify(value))),
      { numRuns: 200 },
    );
  });
});
