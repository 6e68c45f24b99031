import fc from 'fast-check';
import { expect, it } from 'vitest';
import { images } from '#protocols/index.ts';

const head = Buffer.from('89504e470d0a1a0a', 'hex');
const boundary = fc
  .string({
    unit: fc.constantFrom('a', 'b', 'X', 'Y', '0', '9', '-', '_', '.', '='),
    minLength: 1,
    maxLength: 70,
  })
  .filter((text) => !text.endsWith(' '));
const fileName = fc.string({
  unit: fc.constantFrom('a', '.', ' ', 'é', '🙂', ';', '=', "'", '%22', '/', '\\\\'),
});
/** What resembles the end of a part. */
const content = fc
  .array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom('\r\n', '\n', '--', '\r\n--', '\0', '"').map((text) => Buffer.from(text)),
    ),
  )
  .map((pieces) => Buffer.concat([head, ...pieces]));

const file = fc.record({
  name: fc.constantFrom('image', 'image[]', 'image[0]', 'image[15]'),
  fileName,
  content,
});
const text = fc.constantFrom('', 'a', 'é\r\n', '{"a":1}', '-'.repeat(80), 'x'.repeat(10_000));
const fields = fc.dictionary(fc.constantFrom('user', 'style', 'a b', 'ü', 'seed'), text);

const form = fc
  .record({
    boundary,
    files: fc.array(file, { minLength: 1, maxLength: 5 }),
    fields,
    model: fc.constantFrom('m', 'a/b', 'ü'),
    count: fc.integer({ min: 1, max: 10 }),
    seed: fc.infiniteStream(fc.nat(100)),
  })
  .map(({ seed, ...rest }) => {
    const parts = [
      ...rest.files.map((part) => ({ ...part, isFile: true })),
      ...Object.entries({
        ...rest.fields,
        model: rest.model,
        prompt: 'p',
        n: String(rest.count),
      }).map(([name, value]) => ({
        name,
        fileName: '',
        content: Buffer.from(value),
        isFile: false,
      })),
    ]
      .map((part) => ({ part, order: seed.next().value ?? 0 }))
      .toSorted((a, b) => a.order - b.order)
      .map(({ part }) => part);
    return { ...rest, parts };
  })
  .filter(({ boundary: mark, parts }) =>
    parts.every(
      (part) => !part.content.includes(`--${mark}`) && !part.fileName.includes(`--${mark}`),
    ),
  );

type Form = typeof form extends fc.Arbitrary<infer Value> ? Value : never;

function bytesOf({ boundary: mark, parts }: Form, model?: string): Buffer {
  const pieces = parts.flatMap(({ name, fileName: called, content: bytes, isFile }) => [
    Buffer.from(
      `--${mark}\r\nContent-Disposition: form-data; name="${name}"${isFile ? `; filename="${called}"\r\nContent-Type: image/png` : ''}\r\n\r\n`,
    ),
    name === 'model' && model !== undefined ? Buffer.from(model) : bytes,
    Buffer.from('\r\n'),
  ]);
  return Buffer.concat([...pieces, Buffer.from(`--${mark}--\r\n`)]);
}

it('A form of any order, names and boundary arrives the same', () => {
  fc.assert(
    fc.property(form, (given) => {
      const body = bytesOf(given);
      const type = `multipart/form-data; boundary="${given.boundary}"`;
      const request = images.readRequest(images.openEdit(body, type), new Set(['edits']));
      expect(request).toMatchObject({ model: given.model, images: given.count, promptBytes: 1 });
      const files = given.parts.filter(({ isFile }) => isFile);
      expect(request.sources).toBe(files.length);
      for (const [index, { name, bytes }] of request.files.entries()) {
        expect(name).toBe(files[index]!.name);
        expect(body.subarray(bytes.start, bytes.end).equals(files[index]!.content)).toBe(true);
      }
      for (const [name, value] of Object.entries(given.fields)) {
        expect(value.startsWith(request.members[name] as string)).toBe(true);
      }
      const patched = images.patchRequest(request, 'their model');
      expect(patched.body.equals(bytesOf(given, 'their model'))).toBe(true);
    }),
  );
});

/** What a reader makes of pieces whose memory is used again. */
function inPieces(body: Buffer, cuts: readonly number[], type: string) {
  const reader = images.createPieceReader('edit', type);
  const places = cuts.map((cut) => cut % (body.length + 1)).toSorted((a, b) => a - b);
  for (const [index, to] of [...places, body.length].entries()) {
    const piece = Buffer.from(body.subarray(places[index - 1] ?? 0, to));
    reader.add(piece);
    piece.fill(0x2d);
  }
  return reader.end();
}

function opened(run: () => object): object {
  try {
    return run();
  } catch (error) {
    return { refusal: (error as Error).message };
  }
}

const cuts = fc.array(fc.nat(), { maxLength: 12 });

it('A form is read the same, whole or not, wherever it is sliced', () => {
  fc.assert(
    fc.property(
      form,
      cuts,
      fc.option(fc.nat()),
      fc.option(fc.nat()),
      (given, places, end, flaw) => {
        const whole = bytesOf(given);
        const body = Buffer.from(end === null ? whole : whole.subarray(0, end % whole.length));
        if (flaw !== null && body.length > 0) body[flaw % body.length]! ^= 0x20;
        const type = `multipart/form-data; boundary="${given.boundary}"`;
        const expected = opened(() => {
          const { body: _, ...rest } = images.openEdit(body, type);
          return rest;
        });
        const read = opened(() => {
          const form = inPieces(body, places, type);
          if (form.encoding !== 'multipart') throw new Error('no form');
          return form.open();
        });
        expect(read).toEqual(expected);
      },
    ),
    { numRuns: 500 },
  );
});

it('JSON is read the same, wherever it is sliced', () => {
  const long = fc.constantFrom('a cat', 'é'.repeat(5_000), '\n"'.repeat(6_000));
  const members = fc.record({ prompt: long, model: long, user: long });
  fc.assert(
    fc.property(members, fc.nat(20_000), fc.boolean(), cuts, (given, size, isFirst, places) => {
      const image = `data:image/png;base64,${'A'.repeat(size)}`;
      const json = isFirst ? { image, ...given } : { ...given, image };
      const body = Buffer.from(JSON.stringify(json));
      const { body: _, ...expected } = images.openEdit(body, 'application/json');
      const read = inPieces(body, places, 'application/json');
      if (read.encoding !== 'json') throw new Error('no JSON');
      const { body: __, ...rest } = images.openEdit(read.outline, 'application/json');
      expect(read.placed(rest)).toEqual(expected);
    }),
  );
});

it('A form that is cut anywhere is refused', () => {
  fc.assert(
    fc.property(form, fc.nat(), (given, at) => {
      const body = bytesOf(given);
      const type = `multipart/form-data; boundary="${given.boundary}"`;
      // Without its last line end a form is still whole.
      const cut = body.subarray(0, at % (body.length - 2));
      expect(() => images.openEdit(cut, type)).toThrow('invalid request body');
    }),
  );
});
