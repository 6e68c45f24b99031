import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pictureTool, waitingItem } from './picture-tool.ts';

const none = { size: null, quality: null, background: null, format: null, moderation: null };

describe('the items of pictures', () => {
  test('stand where they were waited for, whatever else the response says', () => {
    const id = fc.stringMatching(/^ig_[\w-]{1,30}$/);
    fc.assert(
      fc.property(
        fc.uniqueArray(id, { maxLength: 4 }),
        fc.array(fc.oneof(fc.string({ unit: 'binary' }), fc.nat(3)), { maxLength: 12 }),
        fc.base64String(),
        (ids, output, result) => {
          // A number is a waiting item; a text repeats one, as a model may.
          const at = (value: number): string => ids[value % ids.length] ?? 'ig_';
          const written = (isDrawn: boolean) => ({
            text: ids.map((each) => JSON.stringify(waitingItem(each))),
            output: output.map((value) => {
              if (typeof value === 'string' || ids.length === 0) return value;
              const item = waitingItem(at(value));
              return isDrawn ? { id: at(value), result } : item;
            }),
          });
          const items = new Map(
            ids.map((each) => [each, Buffer.from(JSON.stringify({ id: each, result }))]),
          );
          const body = Buffer.from(JSON.stringify(written(false)));
          const whole = Buffer.concat(pictureTool.withItems(body, items)).toString();
          expect(JSON.parse(whole)).toEqual(written(true));
        },
      ),
    );
  });
});

describe('the arguments of a call', () => {
  test('are never more than a prompt and words that images accept', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        try {
          const request = pictureTool.readCall(text, none);
          expect(request.prompt.trim()).not.toBe('');
        } catch (error) {
          expect(String(error)).toContain('the model gave no prompt');
        }
      }),
    );
  });

  test.each(['', '{', '[]', '{"prompt":7}', '{"prompt":"  "}', 'null'])(
    '%s: nothing to draw',
    (text) => {
      expect(() => pictureTool.readCall(text, none)).toThrow('the model gave no prompt');
    },
  );

  test('a transparent picture is no JPEG', () => {
    const text = '{"prompt":"A house","background":"transparent"}';
    expect(pictureTool.readCall(text, { ...none, format: 'jpeg' }).background).toBeNull();
    expect(pictureTool.readCall(text, none).background).toBe('transparent');
  });
});
