import { expect, test } from 'vitest';
import { images } from '#protocols/index.ts';
import { editAsGeneration } from './edit-as-generation.ts';

const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(16)]);

function formOf(fields: Readonly<Record<string, string>>) {
  const parts = Object.entries({ model: 'm', prompt: 'a', ...fields }).map(
    ([name, value]) => `--b\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
  );
  const file = '--b\r\ncontent-disposition: form-data; name="image"; filename="a"\r\n\r\n';
  const body = Buffer.concat([
    Buffer.from(parts.join('') + file),
    png,
    Buffer.from('\r\n--b--\r\n'),
  ]);
  const opened = images.openEdit(body, 'multipart/form-data; boundary=b');
  return images.readRequest(opened, new Set(['edits', 'multi_reference']));
}

test.each([
  ['auto', 15, 'auto'],
  // It was counted as another word, so it must not become this one.
  ['"auto"', 15, '"auto"'],
  ['disabled', 1, 'disabled'],
])('a form of a set with %s asks for %d pictures', async (mode, expected, sent) => {
  const request = formOf({ sequential_image_generation: mode });
  expect(request.images).toBe(expected);
  const { body } = await editAsGeneration(request);
  expect(JSON.parse(body.toString())).toMatchObject({ sequential_image_generation: sent });
});

test('fields that are numbers, booleans and objects become these', async () => {
  const request = formOf({
    seed: '7',
    watermark: 'false',
    sequential_image_generation: 'auto',
    sequential_image_generation_options: '{"max_images":4}',
    quoted: '"1"',
  });
  const { body } = await editAsGeneration(request);
  expect(JSON.parse(body.toString())).toMatchObject({
    seed: 7,
    watermark: false,
    sequential_image_generation_options: { max_images: 4 },
    quoted: '"1"',
  });
});
