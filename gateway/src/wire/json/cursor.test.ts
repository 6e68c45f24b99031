import { describe, expect, it } from 'vitest';
import { JsonCursor, keyBytes, textLength } from './index.ts';

function at(text: string): JsonCursor {
  const cursor = new JsonCursor();
  cursor.reset(Buffer.from(text));
  return cursor;
}

describe('JsonCursor', () => {
  it('walks members and elements', () => {
    const cursor = at(' { "a" : [ 1 , "two" , {"b":null} ] , "c" : "d" } ');
    expect(cursor.enterObject()).toBe(true);
    expect(cursor.nextMember()).toBe(true);
    expect(cursor.keyIs(keyBytes('a'))).toBe(true);
    expect(cursor.enterArray()).toBe(true);
    const elements: unknown[] = [];
    while (cursor.nextElement()) elements.push(cursor.read());
    expect(elements).toEqual([1, 'two', { b: null }]);
    expect(cursor.nextMember()).toBe(true);
    expect(cursor.keyIs(keyBytes('c'))).toBe(true);
    expect(cursor.read()).toBe('d');
    expect(cursor.nextMember()).toBe(false);
    expect(cursor.ended).toBe(true);
    expect(cursor.failed).toBe(false);
  });

  it('recognises empty values', () => {
    for (const text of ['null', 'false', '""', '[ ]', '{\n}', '0']) {
      expect(at(text).isEmpty()).toBe(true);
    }
    for (const text of ['true', '" "', '[0]', '{"a":0}', '0.5', '0e1', '1', '-1']) {
      expect(at(text).isEmpty()).toBe(false);
    }
  });

  it('measures texts in UTF-8', () => {
    const texts = ['', 'plain', 'é日🙂', 'quote " back \\ line\n\u0001', '\ud83d\ude00'];
    for (const text of texts) {
      const plain = JSON.stringify(text);
      const escaped = plain.replace(
        /[^ -~]/g,
        (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
      );
      expect(at(plain).skipText()).toBe(Buffer.byteLength(text));
      expect(at(escaped).skipText()).toBe(Buffer.byteLength(text));
    }
    expect(textLength(Buffer.from('a\\u00e9'), 0, 7)).toBe(3);
  });

  it('reads counts', () => {
    expect(at('17').skipCount()).toBe(17);
    for (const text of ['-1', '1.5', '"1"', 'null', '12345678901234567']) {
      expect(at(text).skipCount()).toBe(-1);
    }
  });

  it.each(['{"a"', '{"a":', '{"a":"', '{"a":[}', '{"\\u0061":1}', '{1:2}'])(
    'fails on %j and reports it from then on',
    (text) => {
      const cursor = at(text);
      cursor.enterObject();
      while (cursor.nextMember()) cursor.skip();
      expect(cursor.failed).toBe(true);
      expect(cursor.nextMember()).toBe(false);
      expect(cursor.enterObject()).toBe(false);
    },
  );
});
