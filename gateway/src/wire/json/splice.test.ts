import { describe, expect, it } from 'vitest';
import { insertMember, removeMember, replaceValue, scanJson, splice, watchList } from './index.ts';

const watched = watchList(['a', 'b', 'c', 'o.x']);

function edit(text: string, make: (scan: ReturnType<typeof scanJson>, body: Buffer) => unknown) {
  const body = Buffer.from(text);
  const made = make(scanJson(body, watched), body);
  const edits = (Array.isArray(made) ? made : [made]) as Parameters<typeof splice>[1];
  return splice(body, edits).toString('utf8');
}

const remove = (text: string, path: string) =>
  edit(text, (scan, body) => removeMember(body, scan.members.get(path)!));

describe('splice', () => {
  it('returns the same buffer if there is nothing to do', () => {
    const body = Buffer.from('{}');
    expect(splice(body, [])).toBe(body);
  });

  it('accepts edits in any order and refuses overlapping ones', () => {
    const body = Buffer.from('0123456789');
    const cut = (start: number, end: number, text: string) => ({
      start,
      end,
      bytes: Buffer.from(text),
    });
    expect(splice(body, [cut(8, 9, 'x'), cut(0, 0, '<'), cut(2, 5, 'yy')]).toString()).toBe(
      '<01yy567x9',
    );
    expect(() => splice(body, [cut(0, 3, ''), cut(2, 4, '')])).toThrow(RangeError);
    expect(() => splice(body, [cut(9, 11, '')])).toThrow(RangeError);
  });

  it('removes a member with one comma', () => {
    expect(remove('{"a":1,"b":2}', 'a')).toBe('{"b":2}');
    expect(remove('{"a":1,"b":2}', 'b')).toBe('{"a":1}');
    expect(remove('{"a":1,"b":2,"c":3}', 'b')).toBe('{"a":1,"c":3}');
    expect(remove('{ "a" : 1 }', 'a')).toBe('{  }');
    expect(remove('{\n  "a": 1,\n  "b": 2\n}', 'a')).toBe('{\n  "b": 2\n}');
    expect(remove('{\n  "a": 1,\n  "b": 2\n}', 'b')).toBe('{\n  "a": 1\n}');
    expect(remove('{"o":{"x":1},"b":2}', 'o.x')).toBe('{"o":{},"b":2}');
  });

  it('inserts a first member and replaces values', () => {
    const inserted = (text: string, at: string) =>
      edit(text, (scan) => insertMember(scan.objects.get(at)!, 'new', { deep: true }));
    expect(inserted('{"a":1}', '')).toBe('{"new":{"deep":true},"a":1}');
    expect(inserted('{}', '')).toBe('{"new":{"deep":true}}');
    expect(inserted('{"o":{ }}', 'o')).toBe('{"o":{"new":{"deep":true} }}');
    expect(
      edit('{"a": 1.0, "b":2}', (scan) => [
        replaceValue(scan.members.get('a')!, 'é"'),
        insertMember(scan.objects.get('')!, 'n', null),
      ]),
    ).toBe('{"n":null,"a": "é\\"", "b":2}');
  });
});
