import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import type { Block, GenerationRequest } from '#canonical/index.ts';
import { messages, messagesCodec } from '#protocols/messages/index.ts';
import { createTokenEstimator } from './token-estimator.ts';
import { outlineRequest, type Outline } from './outline.ts';

function decoded(content: unknown, more: object = {}): GenerationRequest {
  const json = { model: 'm', messages: [{ role: 'user', content }], ...more };
  const path = { operation: 'count-tokens', model: null, stream: null } as const;
  const opened = messages.openRequest(Buffer.from(JSON.stringify(json)), path);
  return messagesCodec.decodeRequest(messages.readRequest(opened));
}

const request = (content: unknown, more?: object): Outline =>
  outlineRequest(decoded(content, more));

const gpt = { model: 'gpt-4o', protocol: 'chat' } as const;
const claude = { model: 'claude-sonnet-4-5', protocol: 'messages' } as const;

function open(patience = 20_000) {
  const problems: unknown[] = [];
  const estimator = createTokenEstimator({ patience, onProblem: (error) => problems.push(error) });
  onTestFinished(() => estimator.close());
  return { estimator, problems };
}

test('of several models the highest count decides', async () => {
  const { estimator } = open();
  const asked = request('The quick brown fox jumps over the lazy dog.');
  const [one, other, both] = await Promise.all([
    estimator.estimate(asked, [gpt]),
    estimator.estimate(asked, [claude]),
    estimator.estimate(asked, [gpt, claude]),
  ]);
  expect(one).toBeLessThan(other);
  expect(both).toBe(other);
});

test('without a count in time the length decides, and does not underestimate', async () => {
  const { estimator, problems } = open(0);
  const { estimator: patient } = open();
  for (const text of ['The quick brown fox. '.repeat(500), '的一是了我不人在他有'.repeat(200)]) {
    const asked = request(text);
    const rough = await estimator.estimate(asked, [gpt]);
    const counted = await patient.estimate(asked, [gpt]);
    expect(rough).toBeGreaterThanOrEqual(counted);
    expect(rough).toBeLessThan(counted * 3);
  }
  expect(problems).toEqual([]);
});

test('more of anything never counts less', async () => {
  const { estimator } = open();
  const text = fc.string({ maxLength: 60 });
  await fc.assert(
    fc.asyncProperty(
      text,
      fc.array(text, { maxLength: 4 }),
      text,
      async (first, others, system) => {
        const turns = others.map((content) => ({ role: 'user', content }));
        const less = await estimator.estimate(request(first), [claude]);
        const more = await estimator.estimate(
          request(first, { system, messages: [{ role: 'user', content: first }, ...turns] }),
          [claude],
        );
        expect(more).toBeGreaterThanOrEqual(less);
      },
    ),
    { numRuns: 40 },
  );
});

test('every kind of block is read', () => {
  const data = { kind: 'data', mime: 'image/png', base64: '' } as const;
  const blocks: Block[] = [
    { type: 'text', text: 'a' },
    { type: 'refusal', text: 'b' },
    {
      type: 'reasoning',
      text: 'c',
      state: { protocol: 'responses', kind: 'encrypted', data: 'x'.repeat(120) },
    },
    { type: 'reasoning', text: '', state: { protocol: 'messages', kind: 'signature', data: 'y' } },
    { type: 'tool-call', id: '1', name: 'd', kind: 'function', arguments: 'e' },
    {
      type: 'tool-result',
      id: '1',
      name: null,
      content: [
        { type: 'text', text: 'f' },
        { type: 'image', source: data, detail: 'low' },
      ],
      isError: false,
    },
    { type: 'file', source: { ...data, mime: 'text/plain', base64: btoa('g') } },
    { type: 'file', source: data },
    { type: 'file', source: { kind: 'url', url: 'https://example.com/x.pdf', mime: null } },
    { type: 'audio', source: { kind: 'url', url: 'https://example.com/x.mp3', mime: null } },
    { type: 'video', source: { kind: 'url', url: 'https://example.com/x.mp4', mime: null } },
    { type: 'opaque', protocol: 'messages', name: 'n', value: 1, ifForeign: 'drop', text: 'h' },
    { type: 'opaque', protocol: 'messages', name: 'n', value: 'i', ifForeign: 'drop' },
    { type: 'opaque', protocol: 'messages', name: 'n', value: 'no', ifForeign: 'ignore' },
  ];
  const outline = outlineRequest({ ...decoded('z'), turns: [{ role: 'user', blocks }] });
  expect(outline.said.join('')).toBe('abcdefgh"i"');
  expect(outline).toMatchObject({
    turns: 1,
    calls: 2,
    hiddenState: 120,
    images: [{ size: null, detail: 'low' }, { size: null }],
    pdfPages: 1,
    audioSeconds: 60,
    videoSeconds: 60,
  });
});
