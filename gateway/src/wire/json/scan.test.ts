import { describe, expect, it } from 'vitest';
import { parseObject, scanJson, watchList } from './index.ts';

const watched = watchList(['model', 'n', 'stream_options.include_usage']);
const scan = (text: string) => scanJson(Buffer.from(text), watched);
const valueOf = (text: string, path: string) => {
  const range = scan(text).members.get(path);
  return range === undefined
    ? undefined
    : Buffer.from(text).toString('utf8', range.valueStart, range.valueEnd);
};

describe('scanJson', () => {
  it('finds values of every kind, in any position', () => {
    expect(valueOf('{"model":"a\\"}b"}', 'model')).toBe('"a\\"}b"');
    expect(valueOf(' { "x" : [1,{"model":2}] , "model" : 1e400 } ', 'model')).toBe('1e400');
    expect(valueOf('{"n":[[],{"a":"]"}],"model":null}', 'n')).toBe('[[],{"a":"]"}]');
    expect(valueOf('{"mod\\u0065l":"x"}', 'model')).toBe('"x"');
    expect(
      valueOf('{"stream_options":{"include_usage":true}}', 'stream_options.include_usage'),
    ).toBe('true');
    expect(valueOf('{"é":"日本","model":"🙂"}', 'model')).toBe('"🙂"');
  });

  it('knows where members can be inserted', () => {
    const { objects } = scan('{"stream_options":{ }}');
    expect(objects.get('')).toEqual({ start: 1, empty: false });
    expect(objects.get('stream_options')).toEqual({ start: 19, empty: true });
    expect(scan('{"stream_options":null}').objects.has('stream_options')).toBe(false);
  });

  it.each([
    ['twice', '{"model":"cheap","model":"dear"}', 'model'],
    ['twice, once escaped', '{"model":"cheap","mod\\u0065l":"dear"}', 'model'],
    ['in another case beside it', '{"model":"cheap","Model":"dear"}', 'Model'],
    ['in another case instead of it', '{"MODEL":"dear"}', 'MODEL'],
    ['in a letter that folds to it', '{"\u017ftream_options":{}}', '\u017ftream_options'],
    ['twice though nobody reads it', '{"x":1,"model":"m","x":2}', 'x'],
    ['twice inside a watched object', '{"stream_options":{"a":1,"a":2}}', 'a'],
    ['twice with an object each', '{"stream_options":{},"stream_options":{}}', 'stream_options'],
    ['twice as __proto__', '{"__proto__":1,"__proto__":2}', '__proto__'],
  ])('refuses a key %s', (_, text, key) => {
    expect(() => scan(text)).toThrow(`invalid request body: duplicate key '${key}'`);
  });

  it('ignores duplicates where nothing is read', () => {
    expect(() => scan('{"model":"m","metadata":{"a":1,"a":2}}')).not.toThrow();
  });

  it('reads both spellings of proto3 JSON, but not together', () => {
    const both = watchList(['generationConfig.maxOutputTokens'], { snakeCaseToo: true });
    const read = (text: string) => [...scanJson(Buffer.from(text), both).members.keys()];
    const paths = ['generationConfig.maxOutputTokens', 'generationConfig'];
    expect(read('{"generation_config":{"maxOutputTokens":1}}')).toEqual(paths);
    expect(read('{"generationConfig":{"max_output_tokens":1}}')).toEqual(paths);
    expect(() => read('{"generationConfig":{},"generation_config":{}}')).toThrow('duplicate key');
    expect(() => read('{"GenerationConfig":{}}')).toThrow('duplicate key');
    expect(() => read('{"generationConfig":{"maxOutputTokens":1,"max_output_tokens":9}}')).toThrow(
      'duplicate key',
    );
  });

  it.each([
    '',
    ' ',
    '[]',
    '"x"',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1',
    '{"a":"',
    '{"a":[}',
    '{]',
  ])('refuses %j', (text) => {
    expect(() => parseObject(Buffer.from(text), watched)).toThrow('invalid request body');
  });

  it.each([
    '{"a":1,}',
    '{"a" 1}',
    '{"a":1 2}',
    "{'a':1}",
    '{"a":01}',
    '{}{}',
    '{} x',
    '\ufeff{}',
    '{"a\\x":1}',
    '{"\\ud800":1,}',
  ])('refuses %j', (text) => {
    expect(() => parseObject(Buffer.from(text), watched)).toThrow('invalid request body');
  });

  it('refuses bytes that are not UTF-8', () => {
    const body = Buffer.concat([Buffer.from('{"a":"'), Buffer.from([0xff]), Buffer.from('"}')]);
    expect(() => parseObject(body, watched)).toThrow('invalid request body');
  });

  it('treats a __proto__ key as an ordinary one', () => {
    const { value } = parseObject(Buffer.from('{"__proto__":{"polluted":1},"model":"m"}'), watched);
    expect(Object.hasOwn(value, '__proto__')).toBe(true);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
    expect((value as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it.each(['{"a":[1}}', '{"a":{"b":1]}', '{"a":[[]}', '{"a":"x}'])(
    'refuses %j by itself',
    (text) => {
      expect(() => scan(text)).toThrow('invalid request body');
    },
  );

  it('limits the nesting to 512, the root included', () => {
    const nested = (depth: number) => `{"a":${'['.repeat(depth - 1)}${']'.repeat(depth - 1)}}`;
    expect(() => scan(nested(512))).not.toThrow();
    expect(() => scan(nested(513))).toThrow('invalid request body');
  });
});

/** Milliseconds of this thread's CPU, which a busy machine does not change. */
function cpuOf(work: () => void): number {
  const before = process.threadCpuUsage();
  work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1000;
}

/** Several times what any of these takes; anything quadratic takes minutes. */
const soon = 500;

describe('hostile bodies are decided fast', () => {
  const many = (count: number) =>
    Array.from({ length: count }, (_, index) => `"k${index}":0`).join(',');
  it.each([
    ['a million open brackets', `{"a":${'['.repeat(1e6)}`],
    ['a million objects inside one another', '{"a":'.repeat(1e6)],
    ['a million keys at the root', `{${many(1e6)}}`],
    ['a million keys deeper down', `{"model":"m","metadata":{${many(1e6)}}}`],
    ['a million keys here and there', `{"a":{${many(5e5)}},"b":[{${many(5e5)}}]}`],
    ['a million empty lists', `{"model":"m","a":[${'[],'.repeat(1e6)}[]]}`],
    ['a million empty objects', `{"model":"m","a":[${'{},'.repeat(1e6)}{}]}`],
    ['two million numbers', `{"model":"m","a":[${'0,'.repeat(2e6)}0]}`],
    [
      'two million numbers here and there',
      `{"a":[${'0,'.repeat(1e6)}0],"b":[${'0,'.repeat(1e6)}0]}`,
    ],
    ['a million escaped quotes', `{"a":"${'\\"'.repeat(1e6)}`],
    ['ten million backslashes', `{"a":"${'\\'.repeat(1e7 + 1)}"}`],
    ['a string of 10 MB that does not close', `{"a":"${'x'.repeat(1e7)}}`],
    ['ten million spaces', `{"a":1${' '.repeat(1e7)}`],
  ])('%s', (_, text) => {
    const body = Buffer.from(text);
    const taken = cpuOf(() => {
      expect(() => parseObject(body, watched)).toThrow('invalid request body');
    });
    expect(taken).toBeLessThan(soon);
  });

  it.each([
    ['keys', `{"a":{${many(1e5)}}}`],
    ['lists', `{"a":[${'[],'.repeat(4e5)}[]]}`],
    ['numbers', `{"a":[${'0,'.repeat(1e6)}0]}`],
  ])('but many %s are accepted', (_, text) => {
    expect(() => parseObject(Buffer.from(text), watched)).not.toThrow();
  });

  it('a string of 10 MB', () => {
    const body = Buffer.from(`{"model":"m","a":"${'x'.repeat(1e7)}"}`);
    expect(cpuOf(() => parseObject(body, watched))).toBeLessThan(soon);
  });
});
