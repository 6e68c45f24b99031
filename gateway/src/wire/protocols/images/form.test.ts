import { describe, expect, test } from 'vitest';
import type { GatewayError } from '#errors/index.ts';
import { images } from './index.ts';

const png = Buffer.from('89504e470d0a1a0a0000000d49484452ff00\r\n--', 'latin1');
const head = Buffer.from('89504e470d0a1a0a', 'hex');
const image = Buffer.concat([head, png, Buffer.from([0, 0xff, 13, 10])]);
const can = new Set(['edits', 'streaming']);
const type = 'multipart/form-data; boundary=XX';

interface Part {
  readonly headers: string;
  readonly content: Buffer | string;
}

const field = (name: string, content: Buffer | string): Part => ({
  headers: `Content-Disposition: form-data; name="${name}"`,
  content,
});
const file = (name: string, content: Buffer | string = image, filename = 'a.png'): Part => ({
  headers: `Content-Disposition: form-data; name="${name}"; filename="${filename}"\r\nContent-Type: image/png`,
  content,
});

const model = field('model', 'mine');
const prompt = field('prompt', 'a hat');

function formOf(...parts: readonly Part[]): Buffer {
  const pieces = parts.flatMap(({ headers, content }) => [
    Buffer.from(`--XX\r\n${headers}\r\n\r\n`),
    Buffer.from(content),
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from('--XX--\r\n')]);
}

const open = (body: Buffer | string, contentType = type) =>
  images.openEdit(Buffer.from(body), contentType);
const read = (body: Buffer | string, contentType = type) =>
  images.readRequest(open(body, contentType), can);

function refusal(run: () => unknown): Pick<GatewayError, 'errorName' | 'param' | 'message'> {
  try {
    run();
  } catch (error) {
    const { errorName, param, message } = error as GatewayError;
    return { errorName, param, message };
  }
  throw new Error('accepted');
}

describe('the form of an edit', () => {
  test('is read, whatever the order', () => {
    const body = formOf(
      file('image'),
      field('n', '3'),
      file('mask'),
      field('stream', 'true'),
      prompt,
      field('user', 'u'),
      file('image[]', image, 'b"c\\"d.png'.replace('"', '%22')),
      file('image[0]'),
      model,
    );
    const request = read(body);
    expect(request).toMatchObject({
      form: 'edit',
      encoding: 'multipart',
      contentType: type,
      model: 'mine',
      images: 3,
      stream: true,
      layers: false,
      sources: 3,
      promptBytes: 5,
      members: { n: 3, stream: true, prompt: 'a hat', user: 'u' },
    });
    expect(request.files.map(({ field: kind, name }) => [kind, name])).toEqual([
      ['image', 'image'],
      ['mask', 'mask'],
      ['image', 'image[]'],
      ['image', 'image[0]'],
    ]);
    for (const { bytes } of request.files) {
      expect(body.subarray(bytes.start, bytes.end).equals(image)).toBe(true);
    }
  });

  test('reaches the upstream with nothing but the name of its model changed', () => {
    const body = formOf(file('image'), model, prompt);
    const patched = images.patchRequest(read(body), 'their-model');
    expect(patched.contentType).toBe(type);
    expect(patched.body.equals(formOf(file('image'), field('model', 'their-model'), prompt))).toBe(
      true,
    );
    expect(images.patchRequest(read(body), 'mine').body.equals(body)).toBe(true);
  });

  test.each([
    'multipart/form-data; boundary="XX"',
    'Multipart/Form-Data;charset=utf-8;Boundary=XX',
    'multipart/form-data; boundary=XX;',
  ])('is declared by %s', (contentType) => {
    expect(() => read(formOf(file('image'), model, prompt), contentType)).not.toThrow();
  });

  test.each([
    ['jpeg', Buffer.from([0xff, 0xd8, 0xff, 0xe0])],
    ['webp', Buffer.from('RIFF\0\0\0\0WEBPVP8 ', 'latin1')],
  ])('may have a %s', (_, content) => {
    expect(() => read(formOf(file('image', content), model, prompt))).not.toThrow();
  });

  test.each([
    ['no file', [model, prompt, field('n', '0')], 'missing_parameter', 'image'],
    ['a mask alone', [model, prompt, file('mask')], 'missing_parameter', 'image'],
    ['no prompt', [model, file('image', ''), field('n', '0')], 'missing_parameter', 'prompt'],
    ['no model', [prompt, file('image')], 'model_required', 'model'],
    ['an empty model', [field('model', ''), prompt, file('image')], 'model_required', 'model'],
    ['an empty file', [model, prompt, file('image', '')], 'invalid_value', 'image'],
    ['a text as file', [model, prompt, file('image', 'a cat')], 'invalid_value', 'image'],
    ['a GIF', [model, prompt, file('image', 'GIF89a')], 'invalid_value', 'image'],
    ['a picture as field', [model, prompt, field('image', image)], 'invalid_value', 'image'],
    ['a text as mask', [model, prompt, file('image'), file('mask', 'x')], 'invalid_value', 'mask'],
    [
      'two masks',
      [model, prompt, file('image'), file('mask'), file('mask')],
      'duplicate_key',
      'mask',
    ],
    [
      '17 pictures',
      [model, prompt, ...Array.from({ length: 17 }, () => file('image[]'))],
      'invalid_value',
      'image',
    ],
    ['another file', [model, prompt, file('image'), file('sketch')], 'invalid_value', 'sketch'],
    ['a file as prompt', [model, file('prompt', 'x'), file('image')], 'invalid_value', 'prompt'],
    ['a field twice', [model, prompt, prompt, file('image')], 'duplicate_key', 'prompt'],
    [
      'an unknown field twice',
      [model, prompt, field('x', '1'), field('x', '2')],
      'duplicate_key',
      'x',
    ],
    ['a second model', [model, prompt, file('image'), model], 'duplicate_key', 'model'],
    ['Model', [field('Model', 'm'), prompt, file('image')], 'duplicate_key', 'Model'],
    ['n[]', [model, prompt, file('image'), field('n[]', '9')], 'duplicate_key', 'n[]'],
    ['IMAGE', [model, prompt, file('IMAGE')], 'duplicate_key', 'IMAGE'],
    ...['0', '11', '+1', ' 1', '1.0', '1e1', '0x1', '01', '', '99999999999', '١'].map(
      (n) =>
        [`n=${n}`, [model, prompt, file('image'), field('n', n)], 'invalid_value', 'n'] as const,
    ),
    ['stream=1', [model, prompt, file('image'), field('stream', '1')], 'invalid_value', 'stream'],
    ['size=big', [model, prompt, file('image'), field('size', 'big')], 'invalid_value', 'size'],
    [
      'bytes that are not UTF-8',
      [model, field('prompt', Buffer.from([0xff])), file('image')],
      'invalid_value',
      'prompt',
    ],
  ] as const)('must not have %s', (_, parts, errorName, param) => {
    expect(refusal(() => read(formOf(...parts)))).toMatchObject({ errorName, param });
  });

  const whole = formOf(model, prompt, file('image')).toString('latin1');
  const changed = (from: string, to: string) => Buffer.from(whole.replace(from, to), 'latin1');

  test.each([
    ['truncated in its end', whole.slice(0, -4), 'truncated'],
    ['truncated in a part', whole.slice(0, -20), 'truncated'],
    ['truncated in the headers', whole.slice(0, 30), 'truncated'],
    ['empty', '', 'does not begin'],
    ['preceded by text', `hello\r\n${whole}`, 'does not begin'],
    ['of another boundary', whole.replaceAll('--XX', '--YY'), 'does not begin'],
    ['followed by text', `${whole}--XX\r\n`, 'followed by other text'],
    ['of lines that end in LF', whole.replaceAll('\r\n', '\n'), 'followed by other text'],
    ['with a boundary after LF', changed('a hat', 'a\n--XX\nhat'), 'stands within'],
    ['with a longer boundary', changed('a hat', 'a\r\n--XXY\r\nhat'), 'followed by other text'],
    ['with a part without name', changed('; name="prompt"', ''), 'no name'],
    ['with a part of two names', changed('name="prompt"', 'name="prompt"; name="n"'), 'no name'],
    [
      'with an extended name',
      changed('name="prompt"', 'name="prompt"; name*=utf-8\'\'n'),
      'no name',
    ],
    ['with an escape in a name', changed('"prompt"', '"pro\\mpt"'), 'no name'],
    [
      'with a part of another kind',
      changed('form-data; name="p', 'attachment; name="p'),
      'no name',
    ],
    ['with a folded header', changed('; name="prompt"', ';\r\n name="prompt"'), 'broken header'],
    ['with a header without colon', changed('Content-Type:', 'Content-Type'), 'broken header'],
    ['with a bare CR in a header', changed('image/png', 'image\rpng'), 'broken header'],
    [
      'with two dispositions',
      changed('Content-Type: image/png', 'content-disposition: form-data; name="n"'),
      'two dispositions',
    ],
    [
      'with an encoded part',
      changed('Content-Type: image/png', 'Content-Transfer-Encoding: base64'),
      'must not be encoded',
    ],
    ['with endless headers', changed('image/png', 'x'.repeat(20_000)), 'end of its headers'],
    [
      'of too many parts',
      formOf(...Array.from({ length: 300 }, (_, at) => field(`x${at}`, ''))),
      'too many parts',
    ],
  ])('must not be %s', (_, body, reason) => {
    const refused = refusal(() => read(body));
    expect(refused).toMatchObject({ errorName: 'invalid_value' });
    expect(refused.message).toContain('invalid request body: ');
    expect(refused.message).toContain(reason);
  });

  test.each([
    ['no boundary', 'multipart/form-data'],
    ['an empty boundary', 'multipart/form-data; boundary='],
    ['an empty quoted boundary', 'multipart/form-data; boundary=""'],
    ['two boundaries', 'multipart/form-data; boundary=XX; boundary=YY'],
    ['a long boundary', `multipart/form-data; boundary=${'X'.repeat(71)}`],
    ['a boundary of other characters', 'multipart/form-data; boundary="X{}"'],
  ])('must not be declared with %s', (_, contentType) => {
    expect(refusal(() => read(whole, contentType)).message).toContain('boundary');
  });

  test('must be a form or JSON', () => {
    expect(refusal(() => read(whole, 'text/plain')).errorName).toBe('unsupported_content_type');
  });

  test('must not have a file of more than 50 MB', () => {
    const large = Buffer.alloc(50 * 1024 * 1024 + 1);
    head.copy(large);
    expect(refusal(() => read(formOf(model, prompt, file('image', large)))).message).toContain(
      '50 MB',
    );
  });
});
