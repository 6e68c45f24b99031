import { expect, test } from 'vitest';
import { draftOf, nameProblems, pathOf, priceOf, partsFor, type PricePart } from './price-draft.ts';

const column = (name: string, form: PricePart['columns'][number]['form']) => ({
  name,
  form,
  required: true,
  rare: false,
});
const part = (
  name: string,
  types: PricePart['types'],
  rows: PricePart['rows'],
  ...columns: PricePart['columns']
): PricePart => ({ name, types, rows, columns, names: null });

const parts: readonly PricePart[] = [
  part('input', ['chat', 'image'], 'value', column('', 'million_tokens')),
  part('tiers', ['chat'], 'list', column('above', 'count'), column('input', 'million_tokens')),
  part('video_second', ['video'], 'names', column('', 'second')),
  part(
    'video_tokens',
    ['video'],
    'names',
    column('text', 'million_tokens'),
    column('with_video', 'million_tokens'),
  ),
];

const tokens = { input: '1.25', tiers: [{ above: 200_000, input: '2.5' }] };
test.each<[string, object | null]>([
  ['nothing', null],
  ['values and rows of a list', tokens],
  ['a value for each name', { video_second: { '720P': '0.1', '1080P': '0.15' } }],
  ['several for each name', { video_tokens: { '4K': { text: '5', with_video: '3' } } }],
])('%s is the same after it stood in fields', (_what, price) => {
  expect(priceOf(draftOf(price as never, parts), parts)).toEqual(price);
});

const row = (values: Record<string, string>, name = '') => ({ name, values });

test('empty rows are not sent, and the places of the others are those that the API sees', () => {
  const draft = {
    input: [row({ '': ' ' })],
    tiers: [row({ above: '' }), row({ above: '10', input: '' }), row({ above: 'ten', input: '1' })],
    video_second: [row({ '': '' }), row({ '': '0.1' }, ' 720P ')],
  };
  expect(priceOf(draft, parts)).toEqual({
    tiers: [{ above: 10 }, { above: 'ten', input: '1' }],
    video_second: { '720P': '0.1' },
  });
  const [, tiers, video] = parts;
  expect([1, 2].map((at) => pathOf(tiers!, draft, at))).toEqual([
    'price.tiers[0]',
    'price.tiers[1]',
  ]);
  expect(pathOf(video!, draft, 1)).toBe('price.video_second["720P"]');
  expect(pathOf(video!, { video_second: [row({ '': '1' }, 'hd')] }, 0)).toBe(
    'price.video_second.hd',
  );
});

test('a name that is missing, and one that is there twice, have their problems', () => {
  const video_second = [
    row({ '': '1' }, 'a'),
    row({ '': '2' }, 'b'),
    row({ '': '3' }, 'a'),
    row({ '': '4' }),
  ];
  const messages = { none: 'none', twice: 'twice' };
  expect(nameProblems({ video_second }, parts, messages)).toEqual([
    { path: 'price.video_second.a', message: 'twice' },
    { path: 'price.video_second[""]', message: 'none' },
  ]);
});

test('a type has its parts, and those that a price has already', () => {
  const named = (type: 'chat' | 'video', draft = {}) =>
    partsFor(parts, type, draft).map(({ name }) => name);
  expect(named('chat')).toEqual(['input', 'tiers']);
  expect(named('video', draftOf(tokens as never, parts))).toEqual([
    'input',
    'tiers',
    'video_second',
    'video_tokens',
  ]);
});
