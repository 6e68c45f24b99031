import { describe, expect, it, test } from 'vitest';
import type { Quirk, QuirksOfRequest } from '#vendors/index.ts';
import { applyQuirks } from './apply-quirks.ts';

const patched = (text: string, rewrites: readonly string[] = []) => ({
  body: Buffer.from(text),
  rewrites,
  usageInjected: false,
});

type QuirkEdit = Quirk['edit'];

const after = (text: string, ...edits: readonly QuirkEdit[]) => {
  const quirks: QuirksOfRequest = edits.map((edit, index) => ({ id: `p${index + 1}`, edit }));
  const { body, rewrites } = applyQuirks(patched(text), quirks);
  return [body.toString(), ...rewrites];
};

describe('a member that is dropped', () => {
  it('goes with its comma, and every other byte stays', () => {
    const text = '{"model": "m", "logit_bias" : {"1":-1.0}, "temperature":1.00 }';
    expect(after(text, { drop: 'logit_bias' })).toEqual([
      '{"model": "m", "temperature":1.00 }',
      'p1',
    ]);
  });

  it('may stand in an object, or in each element of a list', () => {
    const text =
      '{"messages":[{"role":"user","name":"ann","content":"a"},"odd",{"role":"user"},{"name":"bob"}],"name":"stays"}';
    expect(after(text, { drop: 'messages[].name' })).toEqual([
      '{"messages":[{"role":"user","content":"a"},"odd",{"role":"user"},{}],"name":"stays"}',
      'p1',
    ]);
    expect(after('{"o":{"x":1,"y":2}}', { drop: 'o.x' })).toEqual(['{"o":{"y":2}}', 'p1']);
    expect(after('{"o":[{"x":1}],"l":{"x":1}}', { drop: 'o.x' }, { drop: 'l[].x' })).toEqual([
      '{"o":[{"x":1}],"l":{"x":1}}',
    ]);
  });

  it('may have a neighbour that is dropped too', () => {
    const text = '{"presence_penalty":0,"frequency_penalty":0}';
    const edits = [{ drop: 'presence_penalty' }, { drop: 'frequency_penalty' }];
    expect(after(text, ...edits)).toEqual(['{}', 'p1', 'p2']);
  });
});

test.each<[string, QuirkEdit, string, string | null]>([
  ['its value', { drop: 'top_p', value: 1 }, '{"top_p":1.0,"a":1}', '{"a":1}'],
  ['another value', { drop: 'top_p', value: 1 }, '{"top_p":0.9}', null],
  ['a text instead', { drop: 'top_p', value: 1 }, '{"top_p":"1"}', null],
  ['an object instead', { drop: 'top_p', value: 1 }, '{"top_p":{"x":1}}', null],
  [
    'a value that is replaced',
    { replace: 'messages[].role', value: 'developer', by: 'system' },
    '{"messages":[{"role":"developer"},{"role": "user"},{"role":"developer","content":"developer"}]}',
    '{"messages":[{"role":"system"},{"role": "user"},{"role":"system","content":"developer"}]}',
  ],
])('only a member with %s is edited', (_, edit, before, expected) => {
  const quirks: QuirksOfRequest = [{ id: 'p1', edit }];
  for (const json of [undefined, JSON.parse(before) as Record<string, unknown>]) {
    const { body, rewrites } = applyQuirks(patched(before), quirks, json);
    expect([body.toString(), rewrites]).toEqual([
      expected ?? before,
      expected === null ? [] : ['p1'],
    ]);
  }
});

test('a member that the gateway added is edited although the client wrote none', () => {
  const request = { ...patched('{"stream_options":{"include_usage":true}}'), usageInjected: true };
  const quirks: QuirksOfRequest = [{ id: 'p1', edit: { drop: 'stream_options' } }];
  expect(applyQuirks(request, quirks, {}).body.toString()).toBe('{}');
});

describe('a member that is renamed', () => {
  const edit = { rename: 'max_completion_tokens', to: 'max_tokens' };

  it('keeps its place and its value', () => {
    expect(after('{"a":1,"max_completion_tokens" : 9}', edit)).toEqual([
      '{"a":1,"max_tokens" : 9}',
      'p1',
    ]);
  });

  it('is dropped where the other name is taken', () => {
    expect(after('{"max_tokens":5,"max_completion_tokens":9}', edit)).toEqual([
      '{"max_tokens":5}',
      'p1',
    ]);
  });
});

describe('a schema that is modernized', () => {
  const edit = { modernize: 'tools[].function.parameters' };
  const modernized = (text: string) => {
    const json = JSON.parse(text) as Record<string, unknown>;
    const { body, rewrites } = applyQuirks(patched(text), [{ id: 'p1', edit }], json);
    return [body.toString(), ...rewrites];
  };

  it('changes alone, and keeps its numbers', () => {
    const old = '{"type":"array","items":[{"type":"any"}],"maxItems":12345678901234567890}';
    const text = `{ "seed":1.0,"tools":[{"function":{"parameters": ${old} }},{"function":{"parameters":{ "type":"object" }}}]}`;
    const modern = '{"type":"array","maxItems":12345678901234567890,"prefixItems":[{}]}';
    expect(modernized(text)).toEqual([text.replace(old, modern), 'p1']);
  });

  it('is left alone if it is modern, or not where schemas are', () => {
    const text =
      '{"tools":[{"function":{"parameters":{"type":"object"}}},7],"parameters":{"type":"any"}}';
    expect(modernized(text)).toEqual([text]);
    expect(modernized('{"tools":{"function":{"parameters":{"required":true}}}}')).toHaveLength(1);
  });

  it('is left alone in a converted request, which has none', () => {
    const text = '{"tools":[{"function":{"parameters":{"required":true}}}]}';
    expect(after(text, edit)).toEqual([text]);
  });
});

it('gives back what no quirk is about', () => {
  const request = patched('{"model":"m"}', ['b1']);
  expect(applyQuirks(request, [{ id: 'p1', edit: { drop: 'user' } }])).toBe(request);
});

it('names its work after that of the protocol', () => {
  const request = patched('{"user":"u"}', ['b1']);
  expect(applyQuirks(request, [{ id: 'p1', edit: { drop: 'user' } }]).rewrites).toEqual([
    'b1',
    'p1',
  ]);
});
