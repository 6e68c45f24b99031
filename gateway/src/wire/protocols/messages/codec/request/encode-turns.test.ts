import { describe, expect, it } from 'vitest';
import type { Block, GenerationRequest } from '#canonical/index.ts';
import { assistant, call, result, user } from '#test/support/canonical.ts';
import { encode, image, refused, text } from '#test/support/messages-encoding.ts';
import type { EncodeTarget } from '../../../codec.ts';

describe('instructions between the turns', () => {
  const system = (...blocks: Block[]) => ({ role: 'system' as const, blocks });
  const said = { type: 'text', text: 'be quick' } as const;
  const newer = { model: 'claude-opus-4-8' };
  const rolesOf = (fields: Partial<GenerationRequest>, at: Partial<EncodeTarget> = newer) => {
    const { body, losses } = encode(fields, at);
    return [body.messages.map(({ role }) => role).join(' '), losses];
  };

  it('stay instructions for a model that accepts them, where it accepts them', () => {
    const before = [user('one'), system(said), system(said), assistant(text('x') as Block)];
    const turns = [...before, user('two'), system(said)];
    expect(rolesOf({ turns })).toEqual(['user system assistant user system', []]);
    expect(encode({ turns }, newer).body.messages[1]).toEqual({
      role: 'system',
      content: [said, said],
    });
  });

  it.each([
    ['before the user', [user('one'), system(said), user('two')], 'user'],
    [
      'behind the model',
      [user('one'), assistant(text('x') as Block), system(said), user('two')],
      'user assistant user',
    ],
    ['with more than text', [user('one'), system(said, image)], 'user'],
  ])('%s they are said by the user', (_, turns, roles) => {
    expect(rolesOf({ turns })).toEqual([roles, ['~system']]);
  });

  it('become the user’s words for older and for other models', () => {
    const turns = [user('one'), system(said)];
    for (const model of ['claude-opus-4-6', 'demo-chat']) {
      expect(rolesOf({ turns }, { model })).toEqual(['user', ['~system']]);
    }
  });
});

describe('the conversation', () => {
  it('alternates, results first and in the order of the calls', () => {
    const { body, losses } = encode({
      turns: [
        user('one'),
        user('two'),
        assistant(call({ id: 'a' }), 'said after'),
        assistant(call({ id: 'b' })),
        user('meanwhile', result({ id: 'b' })),
        user(result({ id: 'a', content: [], isError: true })),
        { role: 'system', blocks: [{ type: 'text', text: 'be quick' }] },
      ],
    });
    expect(losses).toEqual(['~system']);
    expect(body.messages).toEqual([
      { role: 'user', content: [text('one'), text('two')] },
      {
        role: 'assistant',
        content: [
          text('said after'),
          { type: 'tool_use', id: 'a', name: 'get_weather', input: {} },
          { type: 'tool_use', id: 'b', name: 'get_weather', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: [text('sunny')] },
          text('meanwhile'),
          text('be quick'),
        ],
      },
    ]);
  });

  it('has no empty texts, and keeps their markers', () => {
    const cache = { ttl: null };
    const { body } = encode({
      system: [
        { type: 'text', text: 's' },
        { type: 'text', text: ' ', cache },
      ],
      turns: [user('a', { type: 'text', text: '\n', cache }, ''), assistant(''), user('b')],
    });
    const marked = (value: string) => ({ ...text(value), cache_control: { type: 'ephemeral' } });
    expect(body.system).toEqual([marked('s')]);
    expect(body.messages).toEqual([{ role: 'user', content: [marked('a'), text('b')] }]);
  });

  it('begins with the user, and is not empty', () => {
    expect(encode({ turns: [assistant('a'), user('b')] })).toMatchObject({
      body: { messages: [{ role: 'user', content: [text('(conversation continues)')] }, {}, {}] },
      losses: ['~messages'],
    });
    expect(refused({ turns: [] })).toBe('messages');
  });

  it('ends as the model requires', () => {
    const turns = [user('a'), assistant('so ')];
    expect(encode({ turns }).body.messages.at(-1)?.content).toEqual([text('so')]);
    const newer = encode({ turns }, { model: 'claude-opus-4-7' });
    expect(newer.body.messages.at(-1)?.content).toEqual([text('Continue.')]);
    expect(newer.losses).toEqual(['~messages']);
    expect(encode({ turns: [user('a'), assistant('b', call())] })).toMatchObject({
      body: { messages: [{}, { content: [text('b')] }] },
      losses: ['-tool_call'],
    });
  });

  it('shows the model’s own images in the user’s next message', () => {
    const { body, losses } = encode({
      turns: [user('draw'), assistant('here', image), user('bigger')],
    });
    expect(body.messages.map(({ content }) => content.map(({ type }) => type))).toEqual([
      ['text'],
      ['text'],
      ['image', 'text'],
    ]);
    expect(losses).toEqual(['~image']);
  });
});

describe('blocks', () => {
  it.each<[string, Block]>([
    ['image', { type: 'image', source: { kind: 'data', mime: 'image/tiff', base64: 'AAAA' } }],
    ['file', { type: 'file', source: { kind: 'data', mime: 'application/zip', base64: 'AAAA' } }],
    ['file_id', { type: 'image', source: { kind: 'file-id', protocol: 'responses', id: 'x' } }],
    ['audio', { type: 'audio', source: { kind: 'data', mime: 'audio/wav', base64: 'AAAA' } }],
    ['video', { type: 'video', source: { kind: 'url', url: 'https://a.example', mime: null } }],
    ['thing', { type: 'opaque', protocol: 'chat', name: 'thing', value: {}, ifForeign: 'refuse' }],
  ])('refuses %s', (what, block) => {
    expect(refused({ turns: [user(block)] })).toBe(what);
  });

  it.each(['text/csv', 'text/markdown; charset=utf-8', 'application/json'])(
    'a file of %s goes as plain text',
    (mime) => {
      const source = { kind: 'data', mime, base64: Buffer.from('a,é').toString('base64') } as const;
      const { body, losses } = encode({ turns: [user({ type: 'file', source, filename: 'a' })] });
      expect(body.messages[0]?.content).toEqual([
        {
          type: 'document',
          source: { type: 'text', media_type: 'text/plain', data: 'a,é' },
          title: 'a',
        },
      ]);
      expect(losses).toEqual(['~file']);
    },
  );

  it('report their losses', () => {
    const opaque = { type: 'opaque', protocol: 'chat', value: {} } as const;
    const { losses } = encode({
      turns: [
        user(
          'a',
          { ...image, detail: 'low' },
          { ...opaque, name: 'x', ifForeign: 'drop' },
          { ...opaque, name: 'y', ifForeign: 'ignore' },
        ),
        assistant(
          { ...opaque, name: 'z', ifForeign: 'drop', text: 'said' },
          { type: 'reasoning', text: 'hm' },
        ),
        user('b'),
      ],
    });
    expect(losses).toEqual(['-image.detail', '-reasoning', '-x', '~z']);
  });

  it('K22, K23: return the model’s own thinking untouched and drop foreign reasoning', () => {
    const signature = { protocol: 'messages', kind: 'signature', data: 'Ep/+=\n' } as const;
    const { body } = encode({
      turns: [
        user('a'),
        assistant(
          { type: 'reasoning', text: ' \u00e9\\n\n ', state: signature },
          { type: 'reasoning', text: '', state: { ...signature, kind: 'redacted' } },
          { type: 'reasoning', text: 'x', state: { ...signature, kind: 'envelope' } },
          {
            type: 'reasoning',
            text: 'y',
            state: { protocol: 'responses', kind: 'encrypted', data: 'e' },
          },
          'b',
        ),
        user('c'),
      ],
    });
    expect(body.messages[1]?.content).toEqual([
      { type: 'thinking', thinking: ' \u00e9\\n\n ', signature: 'Ep/+=\n' },
      { type: 'redacted_thinking', data: 'Ep/+=\n' },
      text('b'),
    ]);
  });

  it.each([
    ['', {}, []],
    ['null', {}, []],
    ['{"b":1,"a":[]}', { b: 1, a: [] }, []],
    ['[1]', { value: [1] }, ['~tool_call.arguments']],
    ['{"a":', { raw_arguments: '{"a":' }, ['~tool_call.arguments']],
  ])('makes an object of the arguments %j', (given, input, losses) => {
    const turns = [user('a'), assistant(call({ arguments: given })), user(result())];
    expect(encode({ turns })).toMatchObject({
      body: { messages: [{}, { content: [{ input }] }, {}] },
      losses,
    });
  });

  it('turn a result that is an object into words', () => {
    const results = [{ output: 'plain' }, { result: 7 }, { a: 1, b: 2 }].map((object, index) =>
      result({ id: `c${index}`, content: [], object }),
    );
    const calls = results.map(({ id }) => call({ id }));
    const { body } = encode({ turns: [user('a'), assistant(...calls), user(...results)] });
    expect(body.messages[2]?.content.map(({ content }) => content)).toEqual([
      [text('plain')],
      [text('{"result":7}')],
      [text('{"a":1,"b":2}')],
    ]);
  });
});
