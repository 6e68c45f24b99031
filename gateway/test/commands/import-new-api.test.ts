import { describe, expect, test } from 'vitest';
import { declaredBy, importFile, whatAndWhere } from './imported.ts';

const channels = [
  {
    id: 1,
    type: 1,
    status: 1,
    name: 'OpenAI main',
    key: '',
    weight: 10,
    priority: 5,
    base_url: '',
    models: 'gpt-4o,gpt-4, text-embedding-3-small,bge-m3,whisper-1,loop,dall-e-3',
    group: 'default,vip',
    model_mapping: '{"gpt-4":"middle","middle":"gpt-4.1","loop":"loop"}',
    setting: '{"proxy":"http://user:secret-proxy@h"}',
    param_override: '{}',
  },
  {
    id: 2,
    type: 14,
    status: 2,
    name: 'Claude',
    key: 'secret-one\nsecret-two',
    base_url: 'https://u:secret-in-url@relay.example.com/api?k=secret-in-query',
    models: 'claude-haiku-4-5,claude-embedding,dall-e-2',
    group: 'default',
    model_mapping: 'secret-not-json',
  },
  {
    id: 3,
    type: 1,
    status: 1,
    name: 'Claude',
    base_url: 'https://relay.example.com',
    models: 'x,gpt-image-1',
  },
  { id: 4, type: 24, status: 3, name: '', models: 'gemini-2.5-flash', priority: -3, weight: 0 },
  { id: 5, type: 33, status: 1, name: 'aws', models: 'claude-x' },
  { id: 7, type: 9, status: 1, name: 'old', models: 'y' },
  { id: 6, type: 40, status: 1, name: 'forty', models: 'm' },
];

describe('sluice import new-api', () => {
  test('writes a file that check accepts', async () => {
    const data = { items: channels, total: 9 };
    const outcome = await importFile('new-api', JSON.stringify({ success: true, data }));
    expect(outcome.code).toBe(0);
    const declared = declaredBy(outcome);
    expect(
      declared.channels.map((channel) => [
        ...whatAndWhere(channel),
        channel.groups.join(),
        channel.apiKeys.length,
        channel.priority,
        channel.weight,
        channel.enabled,
      ]),
    ).toEqual([
      [
        'OpenAI main',
        'openai',
        'https://api.openai.com/v1',
        'gpt-4o=gpt-4o,gpt-4=gpt-4.1,text-embedding-3-small=text-embedding-3-small,bge-m3=bge-m3,loop=loop,dall-e-3=dall-e-3',
        'default,vip',
        1,
        5,
        10,
        true,
      ],
      [
        'Claude',
        'anthropic',
        'https://relay.example.com/api/v1',
        'claude-haiku-4-5=claude-haiku-4-5',
        'default',
        2,
        0,
        1,
        false,
      ],
      [
        'Claude-2',
        'openai-compatible',
        'https://relay.example.com/v1',
        'x=x,gpt-image-1=gpt-image-1',
        'default',
        1,
        0,
        1,
        true,
      ],
      [
        'channel-4',
        'gemini',
        'https://generativelanguage.googleapis.com/v1beta',
        'gemini-2.5-flash=gemini-2.5-flash',
        'default',
        1,
        -3,
        1,
        false,
      ],
      [
        'forty',
        'openai-compatible',
        'https://api.siliconflow.cn/v1',
        'm=m',
        'default',
        1,
        0,
        1,
        true,
      ],
    ]);
    const typeOf = (name: string) => declared.models.find(({ id }) => id === name)?.type;
    expect([typeOf('bge-m3'), typeOf('dall-e-3')]).toEqual(['embedding', 'image']);
    expect(declared.channels[2]?.protocols).toEqual(['chat', 'embeddings', 'images']);
    for (const line of [
      'the file has 7 of 9 channels: ask for more per page',
      "channel 'aws' is left out: Bedrock is planned and not supported yet; until then keep the other gateway for it, as a channel of openai-compatible at its address",
      "channel 'old' is left out: type 9 cannot be imported",
      "channel 'OpenAI main': models that it cannot serve here are left out: whisper-1",
      "channel 'Claude': models that it cannot serve here are left out: claude-embedding, dall-e-2",
      "channel 'Claude': its API key is in the file; move it to CLAUDE_KEY_1, CLAUDE_KEY_2",
      "channel 'Claude': its model_mapping cannot be read and is not imported",
      "channel 'channel-4' is disabled there and stays disabled",
      'the ratios of groups are not in the export: set price_multiplier of groups',
      'setting of OpenAI main: not imported',
      'requests for these models are refused until they have a price: bge-m3, loop, dall-e-3, x, m',
    ]) {
      expect(outcome.err).toContain(`warning: ${line}\n`);
    }
    expect(outcome.err).not.toContain('param_override');
  });

  test('leaves out names with a star, which would be patterns here', async () => {
    const starred = { id: 1, type: 1, status: 1, name: 'a', models: 'gpt-*,x' };
    const only = { id: 2, type: 1, status: 1, name: 'b', models: '*' };
    const outcome = await importFile('new-api', JSON.stringify({ data: [starred, only] }));
    expect(outcome.err).toContain('names with * are left out: gpt-*, *\n');
    expect(declaredBy(outcome).channels.map(({ name, models }) => [name, models])).toEqual([
      ['a', [{ name: 'x', upstream: 'x' }]],
    ]);
  });

  test('reads the numbers of one-api, which mean other vendors', async () => {
    const outcome = await importFile('new-api', JSON.stringify({ data: channels.slice(6) }));
    expect(declaredBy(outcome).channels[0]?.baseUrl).toBe(
      'https://ark.cn-beijing.volces.com/api/v3',
    );
  });

  test('refuses any other file without quoting it', async () => {
    expect((await importFile('new-api', '{"key": secret-x}')).err).toBe(
      'sluice: the file is not valid JSON\n',
    );
    expect((await importFile('new-api', '{"data":[{"id":1}]}')).err).toMatch(/no channels found/);
  });

  test('reports it if nothing can be imported', async () => {
    const nothing = await importFile('new-api', '{"data":[{"type":33,"name":"aws","models":"m"}]}');
    expect(nothing).toMatchObject({ code: 1, out: '' });
    expect(nothing.err).toMatch(/\nsluice: nothing could be imported\n$/);
  });
});
