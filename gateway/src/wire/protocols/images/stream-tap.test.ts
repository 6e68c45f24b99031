import { describe, expect, test } from 'vitest';
import { type StreamEvent, verdict } from '../protocol.ts';
import { images } from './index.ts';

const literal = images.eventNamesFor('generation', {});
const b64 = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex').toString('base64');
const echo = { clientModel: 'mine', upstreamModel: 'mine' };

const usage = {
  total_tokens: 30,
  input_tokens: 10,
  output_tokens: 20,
  output_tokens_details: { image_tokens: 15 },
};

function eventOf(name: string | null, value: unknown): StreamEvent {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const named = name === null ? '' : `event: ${name}\n`;
  const raw = Buffer.from(`${named}data: ${text}\n\n`);
  return { raw, name, data: Buffer.from(text) };
}

const typed = (type: string, members: object = {}): StreamEvent =>
  eventOf(type, { type, ...members });
const done = eventOf(null, '[DONE]');

interface Run {
  readonly names?: typeof literal;
  readonly echo?: typeof echo;
  readonly accepts?: () => boolean;
}

/** What the client gets, and how the stream ends. */
function run(events: readonly StreamEvent[], { names = literal, ...options }: Run = {}) {
  const { accepts } = options;
  const tap = images.createStreamTap({
    names,
    ...(options.echo ?? echo),
    ...(accepts !== undefined && { accepts }),
  });
  let text = '';
  for (const event of events) {
    const flags = tap.inspect(event);
    if ((flags & verdict.failed) !== 0) return { tap, text, isFailed: true };
    if ((flags & verdict.drop) !== 0) continue;
    text += Buffer.concat(
      (flags & verdict.replace) === 0 ? [event.raw] : tap.replacement,
    ).toString();
  }
  return { tap, text: text + Buffer.concat(tap.completion()).toString(), isFailed: false };
}

const shown = (text: string) =>
  text
    .split('\n\n')
    .filter((part) => part !== '')
    .map((part) => {
      const data = part.slice(part.indexOf('data: ') + 6);
      const name = /^event: (.*)$/m.exec(part)?.[1];
      return data === '[DONE]' ? data : { name, ...(JSON.parse(data) as object) };
    });

describe('the names of events', () => {
  test.each([
    ['generation', {}, 'image_generation.partial_image', 'image_generation.complete'],
    ['edit', {}, 'image_generation.partial_image', 'image_generation.complete'],
    [
      'generation',
      { 'x-stainless-lang': 'js' },
      'image_generation.partial_image',
      'image_generation.completed',
    ],
    ['edit', { 'x-stainless-lang': 'js' }, 'image_edit.partial_image', 'image_edit.completed'],
    [
      'edit',
      { 'x-sluice-image-events': 'openai' },
      'image_edit.partial_image',
      'image_edit.completed',
    ],
    [
      'edit',
      { 'x-stainless-lang': 'js', 'x-sluice-image-events': 'literal' },
      'image_generation.partial_image',
      'image_generation.complete',
    ],
  ] as const)('of a streamed %s with %j', (form, headers, partial, final) => {
    expect(images.eventNamesFor(form, headers)).toEqual({ partial, final });
  });
});

describe('a stream', () => {
  const partial = { b64_json: b64, partial_image_index: 0 };
  const final = { b64_json: b64, size: '1024x1024', usage };

  test.each([
    ['image_generation.partial_image', 'image_generation.completed'],
    ['image_generation.partial_image', 'image_generation.complete'],
    ['image_edit.partial_image', 'image_edit.completed'],
  ])('of %s and %s has the client’s names', (partialName, finalName) => {
    const events = [typed(partialName, partial), typed(finalName, final)];
    for (const [form, headers] of [
      ['generation', {}],
      ['edit', { 'x-stainless-lang': 'js' }],
    ] as const) {
      const names = images.eventNamesFor(form, headers);
      const { tap, text } = run(events, { names });
      expect(shown(text)).toEqual([
        { name: names.partial, type: names.partial, ...partial },
        { name: names.final, type: names.final, ...final },
        '[DONE]',
      ]);
      expect(tap.entries).toMatchObject([{ size: '1024x1024', isFailed: false }]);
      expect(tap.usage?.tokens).toMatchObject({ input: 10, output: 20, outputImage: 15 });
    }
  });

  test('is untouched if its names are the client’s', () => {
    const events = [typed(literal.partial, partial), typed(literal.final, final), done];
    const { tap, text } = run(events);
    expect(text).toBe(events.map(({ raw }) => String(raw)).join(''));
    expect(tap).toMatchObject({ finished: true, closed: true });
  });

  test('gets a type, the name of an event and the client’s model', () => {
    const events = [eventOf(literal.final, { model: 'theirs', ...final })];
    const mapped = { clientModel: 'mine', upstreamModel: 'theirs' };
    expect(shown(run(events, { echo: mapped }).text)[0]).toEqual({
      name: literal.final,
      type: literal.final,
      model: 'mine',
      ...final,
    });
    const unnamed = [eventOf(null, { type: 'image_edit.completed', ...final })];
    expect(shown(run(unnamed).text)[0]).toMatchObject({ name: literal.final, type: literal.final });
  });

  test('of several lines of data becomes one line', () => {
    const event = eventOf(
      'image_edit.completed',
      `{\n"type":"image_edit.completed",\r\n"url":"u"}`,
    );
    expect(shown(run([event]).text)).toEqual([
      { name: literal.final, type: literal.final, url: 'u' },
      '[DONE]',
    ]);
  });

  test('of several pictures has the usage of the last', () => {
    const { tap } = run([
      typed('image_generation.completed', {
        ...final,
        usage: { input_tokens: usage.input_tokens, output_tokens: 7 },
      }),
      typed('image_generation.completed', final),
    ]);
    expect(tap.entries).toHaveLength(2);
    expect(tap.usage?.tokens).toMatchObject({ output: 20, outputImage: 15 });
  });

  test('may have events of other kinds and comments', () => {
    const other = typed('image_generation.queued', { x: 1 });
    const comment: StreamEvent = { raw: Buffer.from(': hi\n\n'), name: null, data: null };
    const { text } = run([comment, other]);
    expect(text).toBe(`: hi\n\n${String(other.raw)}`);
  });

  test('without a final picture is not complete', () => {
    expect(run([typed(literal.partial, partial)]).tap.finished).toBe(false);
    expect(run([typed(literal.partial, partial), done]).isFailed).toBe(true);
  });

  test.each([
    ['an error', eventOf(null, { error: { code: 'x', message: 'y' } })],
    ['a named error', eventOf('error', { code: 'x', message: 'y' })],
    ['an error as type', eventOf(null, { type: 'error', code: 'x', message: 'y' })],
  ])('with %s fails', (_, event) => {
    const { tap, isFailed } = run([typed(literal.final, final), event]);
    expect(isFailed).toBe(true);
    expect(tap.failure).toMatchObject({ error: { code: 'x', message: 'y' } });
  });

  test.each(['{', '[]', 'hello'])('with %j fails', (data) => {
    expect(run([eventOf(null, data)]).isFailed).toBe(true);
  });

  test('fails at a picture that may not be shown', () => {
    const { tap, text, isFailed } = run([typed(literal.final, final)], { accepts: () => false });
    expect({ text, isFailed, entries: tap.entries }).toEqual({
      text: '',
      isFailed: true,
      entries: [],
    });
  });
});

describe('a set of Ark', () => {
  const succeeded = (index: number) =>
    typed('image_generation.partial_succeeded', {
      model: 'theirs',
      image_index: index,
      url: `u${index}`,
      size: '2048x2048',
    });
  const failed = typed('image_generation.partial_failed', {
    image_index: 1,
    error: { code: 'OutputImageSensitiveContentDetected', message: 'no' },
  });
  const arkUsage = { generated_images: 2, output_tokens: 40, total_tokens: 40 };
  const completed = typed('image_generation.completed', { model: 'theirs', usage: arkUsage });
  const image = (index: number) => ({
    name: literal.final,
    type: literal.final,
    model: 'theirs',
    image_index: index,
    url: `u${index}`,
    size: '2048x2048',
  });

  test('has final pictures, the last with the usage', () => {
    const { tap, text } = run([succeeded(0), failed, succeeded(2), completed, done]);
    expect(shown(text)).toEqual([image(0), { ...image(2), usage: arkUsage }, '[DONE]']);
    expect(tap.entries.map(({ size, isFailed }) => [size, isFailed])).toEqual([
      ['2048x2048', false],
      [null, true],
      ['2048x2048', false],
    ]);
    expect(tap.usage?.tokens).toMatchObject({ input: 0, output: 40, outputImage: 40 });
  });

  test.each([
    ['[DONE]', [done]],
    ['the end of the body', []],
  ])('shows its last picture without usage before %s', (_, end) => {
    const { text } = run([succeeded(0), succeeded(1), ...end]);
    expect(shown(text)).toEqual([image(0), image(1), '[DONE]']);
  });

  test.each([
    ['its usage', completed],
    ['[DONE]', done],
  ])('of which all fail is a failure at %s', (_, end) => {
    const { tap, text, isFailed } = run([failed, end]);
    expect({ text, isFailed }).toEqual({ text: '', isFailed: true });
    expect(tap.failure).toMatchObject({ error: { code: 'OutputImageSensitiveContentDetected' } });
  });
});
