import { expect, test } from 'vitest';
import { parseExactJson, type ExactMapping } from './exact-json.ts';
import { listedSurcharges } from './litellm-surcharges.ts';

const read = (text: string) => listedSurcharges(parseExactJson(text) as ExactMapping);

const base =
  '"input_cost_per_token":1.25e-06,"output_cost_per_token":1e-05,"cache_read_input_token_cost":1.25e-07';

test('a tier that multiplies every part equally is one multiplier', () => {
  expect(
    read(
      `{${base},"input_cost_per_token_priority":2.5e-06,"output_cost_per_token_priority":2e-05,"cache_read_input_token_cost_priority":2.5e-07,
      "input_cost_per_token_flex":6.25e-07,"output_cost_per_token_flex":5e-06,"cache_read_input_token_cost_flex":6.25e-08}`,
    ),
  ).toEqual({ multipliers: { 'service_tier.priority': '2', 'service_tier.flex': '0.5' } });
});

test('sound in a tier is multiplied as text is, where the list has it', () => {
  const sound = '"input_cost_per_audio_token":1e-06';
  const tier =
    '"input_cost_per_token_priority":2.5e-06,"output_cost_per_token_priority":2e-05,"cache_read_input_token_cost_priority":2.5e-07';
  const twice = { multipliers: { 'service_tier.priority': '2' } };
  const also = (cost: string) => `"input_cost_per_audio_token_priority":${cost}`;
  expect(read(`{${base},${sound},${tier}}`)).toEqual(twice);
  expect(read(`{${base},${sound},${tier},${also('2e-06')}}`)).toEqual(twice);
  expect(read(`{${base},${sound},${tier},${also('3e-06')}}`)).toEqual({});
});

test.each([
  [
    'parts at different multiples',
    '"input_cost_per_token_priority":2.5e-06,"output_cost_per_token_priority":3e-05,"cache_read_input_token_cost_priority":2.5e-07',
  ],
  [
    'a part left out',
    '"input_cost_per_token_priority":2.5e-06,"output_cost_per_token_priority":2e-05',
  ],
  [
    'a multiple with more digits than a multiplier has',
    '"input_cost_per_token_priority":1.6666666e-06,"output_cost_per_token_priority":1.3333333e-05,"cache_read_input_token_cost_priority":1.6666666e-07',
  ],
])('%s is not a multiplier', (_name, more) => {
  expect(read(`{${base},${more}}`)).toEqual({});
});

test('fast mode, a region, and searches that cost the same at every size', () => {
  const sizes = (high: string) =>
    `"search_context_cost_per_query":{"search_context_size_low":0.01,"search_context_size_medium":0.01,"search_context_size_high":${high}}`;
  expect(read(`{"provider_specific_entry":{"us":1.1,"fast":6.0},${sizes('1e-2')}}`)).toEqual({
    multipliers: { 'speed.fast': '6', 'inference_geo.us': '1.1' },
    fees: { web_search: '0.01' },
  });
  expect(read(`{${sizes('0.025')}}`)).toEqual({});
});
