import { expect, test } from 'vitest';
import { type Block, LossList } from '#canonical/index.ts';
import { requestOf, result, user } from '#test/support/canonical.ts';
import { moveResultMedia } from './media.ts';

const image: Block = { type: 'image', source: { kind: 'data', mime: 'image/png', base64: 'AA==' } };
const text: Block = { type: 'text', text: 'sunny' };

test('pictures of tool results follow all results, each with its origin', () => {
  const losses = new LossList();
  const turn = user(
    result({ id: 'a', content: [text, image] }),
    result({ id: 'b', content: [image] }),
    'and now?',
  );
  const [moved] = moveResultMedia(requestOf({ turns: [turn] }), losses).turns;
  expect(moved?.blocks).toEqual([
    result({ id: 'a', content: [text] }),
    result({ id: 'b', content: [{ type: 'text', text: 'The output follows.' }] }),
    { type: 'text', text: 'Output of tool call a:' },
    image,
    { type: 'text', text: 'Output of tool call b:' },
    image,
    { type: 'text', text: 'and now?' },
  ]);
  expect(losses.all()).toEqual([{ what: 'tool_result.media', how: 'approximated' }]);
});

test('text results stay unchanged', () => {
  const losses = new LossList();
  const turns = [user(result())];
  expect(moveResultMedia(requestOf({ turns }), losses).turns).toEqual(turns);
  expect(losses.all()).toEqual([]);
});
