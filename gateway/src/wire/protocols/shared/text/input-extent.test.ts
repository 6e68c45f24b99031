import { describe, expect, it } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { textProtocols } from '../../index.ts';

const url = 'https://example.com/a';
const base64 = 'A'.repeat(2_000);
const png = `data:image/png;base64,${base64}`;
const pdf = `data:application/pdf;base64,${base64}`;
const plain = {
  images: 0,
  imageBytes: 0,
  fileBytes: 0,
  fileTokens: 0,
  unseen: false,
  hostedTools: false,
};

function extentOf(protocol: TextProtocolName, request: object) {
  const { openRequest, readRequest } = textProtocols[protocol];
  const path = { operation: 'generate', model: 'm', stream: false } as const;
  const body = Buffer.from(JSON.stringify({ model: 'm', ...request }));
  return { ...readRequest(openRequest(body, path)).extent };
}

type Case = readonly [name: string, parts: readonly unknown[], seen: Partial<typeof plain>];

/** Properties that hold wherever the part is. */
function describeParts(
  protocol: TextProtocolName,
  wrap: (parts: readonly unknown[]) => object,
  cases: readonly Case[],
): void {
  it.each(cases)('%s', (_name, parts, seen) => {
    expect(extentOf(protocol, wrap(parts))).toEqual({ ...plain, ...seen });
  });
}

const one = { images: 1 };
const file = { unseen: true, fileTokens: 1_000 };
const carried = (bytes: number) => ({ ...file, fileBytes: bytes });
const unseen = { unseen: true };

describe('chat', () => {
  const text = { type: 'text', text: 'hello' };
  const wrap = (content: unknown) => ({
    messages: [
      { role: 'user', content: 'hello' },
      { role: 'user', content },
    ],
  });
  describeParts('chat', wrap, [
    ['texts', [text, { type: 'refusal', refusal: 'no' }], {}],
    ['a picture by address', [text, { type: 'image_url', image_url: { url } }], one],
    ['two', [0, 1].map(() => ({ type: 'image_url', image_url: url })), { images: 2 }],
    [
      'a picture in bytes',
      [{ type: 'image_url', image_url: { url: png } }],
      { images: 1, imageBytes: png.length },
    ],
    [
      'a document as picture',
      [{ type: 'image_url', image_url: { url: pdf } }],
      carried(pdf.length),
    ],
    ['a document', [{ type: 'file', file: { file_data: pdf } }], carried(pdf.length)],
    ['a file by id', [{ type: 'file', file: { file_id: 'f' } }], file],
    [
      'sound',
      [{ type: 'input_audio', input_audio: { data: base64, format: 'wav' } }],
      carried(2_000),
    ],
    ['film', [{ type: 'video_url', video_url: { url } }], file],
    ['what is not known', [{ type: 'document_url', document_url: url }], unseen],
  ]);

  it('sound that was answered before, by its id', () => {
    const messages = [{ role: 'assistant', audio: { id: 'audio_1' } }];
    expect(extentOf('chat', { messages })).toEqual({ ...plain, ...file });
  });

  it.each([
    [{ web_search_options: {} }, true],
    [{ tools: [{ type: 'web_search' }] }, true],
    [
      {
        tools: [
          { type: 'function', function: {} },
          { type: 'custom', custom: {} },
        ],
      },
      false,
    ],
  ])('tools: %j', (more, hostedTools) => {
    expect(extentOf('chat', { messages: [], ...more })).toEqual({ ...plain, hostedTools });
  });
});

describe('responses', () => {
  const text = { type: 'input_text', text: 'hello' };
  const cases: readonly Case[] = [
    ['texts', [text, { type: 'output_text', text: 'hello' }], {}],
    ['a picture by address', [text, { type: 'input_image', image_url: url }], one],
    ['a picture by id', [{ type: 'input_image', file_id: 'f' }], one],
    [
      'a picture in bytes',
      [{ type: 'input_image', image_url: png }],
      { images: 1, imageBytes: png.length },
    ],
    ['a file by id', [{ type: 'input_file', file_id: 'f' }], file],
    ['a file by address', [{ type: 'input_file', file_url: url }], file],
    ['a document', [{ type: 'input_file', file_data: pdf }], carried(pdf.length)],
    ['a text file', [{ type: 'input_file', file_data: `data:text/plain;base64,${base64}` }], {}],
    ['what is not known', [{ type: 'input_video', video_url: url }], unseen],
  ];
  describe('in a message', () => {
    describeParts('responses', (content) => ({ input: [{ role: 'user', content }] }), cases);
  });
  describe('in the output of a call', () => {
    const wrap = (output: unknown) => ({ input: [{ type: 'function_call_output', output }] });
    describeParts('responses', wrap, cases);
  });

  it.each([
    [{ previous_response_id: 'resp' }, file],
    [{ conversation: 'conv' }, file],
    [{ prompt: { id: 'p' } }, file],
    [{ input: [{ type: 'item_reference', id: 'i' }] }, unseen],
    [{ input: [{ type: 'image_generation_call', id: 'i' }] }, one],
    [{ input: [{ type: 'computer_call_output', output: { type: 'computer_screenshot' } }] }, one],
    [{ input: [{ type: 'code_interpreter_call', outputs: [{ type: 'logs', logs: 'x' }] }] }, {}],
    [{ input: [{ type: 'reasoning', summary: [], content: [] }] }, {}],
    [{ tools: [{ type: 'web_search' }] }, { hostedTools: true }],
    [{ tools: [{ type: 'function' }, { type: 'custom' }, { type: 'local_shell' }] }, {}],
  ])('%j', (more, seen) => {
    expect(extentOf('responses', { input: 'hello', ...more })).toEqual({ ...plain, ...seen });
  });
});

describe('messages', () => {
  const text = { type: 'text', text: 'hello' };
  const block = (type: string, source: object) => ({ type, source });
  const cases: readonly Case[] = [
    ['texts', [text, { type: 'thinking', thinking: 'x' }], {}],
    ['a picture by address', [text, block('image', { type: 'url', url })], one],
    ['a picture by id', [block('image', { type: 'file', file_id: 'f' })], one],
    [
      'a picture in bytes',
      [block('image', { type: 'base64', media_type: 'image/png', data: base64 })],
      { images: 1, imageBytes: 2_000 },
    ],
    [
      'an image without its media type, which is repaired',
      [block('image', { type: 'base64', data: base64 })],
      { images: 1, imageBytes: 2_000 },
    ],
    [
      'a document as picture',
      [block('image', { type: 'base64', media_type: 'application/pdf', data: base64 })],
      carried(2_000),
    ],
    [
      'a document',
      [block('document', { type: 'base64', media_type: 'application/pdf', data: base64 })],
      carried(2_000),
    ],
    ['a document by address', [block('document', { type: 'url', url })], file],
    ['a document by id', [block('document', { type: 'file', file_id: 'f' })], file],
    ['a document of text', [block('document', { type: 'text', data: 'hello' })], {}],
    [
      'a document of parts',
      [block('document', { type: 'content', content: [block('image', { type: 'url', url })] })],
      one,
    ],
    [
      'a page that was fetched',
      [
        {
          type: 'web_fetch_tool_result',
          content: { type: 'web_fetch_result', content: block('document', { type: 'base64' }) },
        },
      ],
      file,
    ],
    ['a file for a container', [{ type: 'container_upload', file_id: 'f' }], file],
    ['what a call says', [{ type: 'tool_use', input: block('image', { type: 'url' }) }], {}],
  ];
  describe('in a message', () => {
    describeParts('messages', (content) => ({ messages: [{ role: 'user', content }] }), cases);
  });
  describe('in a result', () => {
    const wrap = (content: unknown) => ({
      messages: [{ role: 'user', content: [{ type: 'tool_result', content }] }],
    });
    describeParts('messages', wrap, cases);
  });

  it.each([
    [{ tools: [{ type: 'web_search_20260209', name: 'web_search' }] }, true],
    [{ mcp_servers: [{ type: 'url', url }] }, true],
    [{ tools: [{ name: 'f' }, { type: 'custom', name: 'g' }, { type: 'bash_20250124' }] }, false],
  ])('tools: %j', (more, hostedTools) => {
    expect(extentOf('messages', { messages: [], ...more })).toEqual({ ...plain, hostedTools });
  });

  it.each([
    [{ context_management: { edits: [{ type: 'compact_20260112' }] } }, true],
    [{ compaction: { mode: 'x' } }, true],
    [{ context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] } }, undefined],
    [{ context_management: { edits: 'compact_20260112' }, compaction: null }, undefined],
  ])('compacts: %j', (more, compacts) => {
    expect(extentOf('messages', { messages: [], ...more }).compacts).toBe(compacts);
  });
});

describe('generate-content', () => {
  const data = (mimeType: string) => ({ inlineData: { mimeType, data: base64 } });
  const cases: readonly Case[] = [
    ['texts', [{ text: 'hello' }], {}],
    ['a picture in bytes', [data('image/png')], { images: 1, imageBytes: 2_000 }],
    [
      'the same in snake case',
      [{ inline_data: { mime_type: 'image/png', data: base64 } }],
      { images: 1, imageBytes: 2_000 },
    ],
    ['a picture by address', [{ fileData: { mimeType: 'image/png', fileUri: url } }], one],
    ['a file', [{ file_data: { file_uri: url } }], file],
    ['a film', [{ fileData: { fileUri: 'https://youtu.be/x' } }], file],
    ['a document', [data('application/pdf')], carried(2_000)],
    ['sound', [data('audio/wav')], carried(2_000)],
    ['text', [data('text/plain')], {}],
    [
      'a picture in a result',
      [{ functionResponse: { name: 'f', response: {}, parts: [data('image/png')] } }],
      { images: 1, imageBytes: 2_000 },
    ],
  ];
  describe('in contents', () => {
    describeParts('generate-content', (parts) => ({ contents: [{ parts }] }), cases);
  });
  describe('in one content', () => {
    describeParts('generate-content', (parts) => ({ contents: { parts } }), cases);
  });

  it.each([
    [{ cachedContent: 'cachedContents/1' }, file],
    [{ cached_content: 'cachedContents/1' }, file],
    [{ systemInstruction: { parts: { fileData: { fileUri: url } } } }, file],
    [{ tools: [{ googleSearch: {} }] }, { hostedTools: true }],
    [{ tools: { url_context: {} } }, { hostedTools: true }],
    [{ tools: [{ function_declarations: [] }, { functionDeclarations: [] }] }, {}],
  ])('%j', (more, seen) => {
    expect(extentOf('generate-content', { contents: [], ...more })).toEqual({ ...plain, ...seen });
  });
});

it.each(['chat', 'responses', 'messages', 'generate-content'] as const)(
  '%s: nonsense is no attachment',
  (protocol) => {
    for (const odd of [7, 'text', null, [[null, 7, [7]]], [{ content: 7 }], {}]) {
      const request = { messages: odd, input: odd, contents: odd, tools: odd, system: odd };
      const { input, contents, messages } = request;
      expect(
        extentOf(protocol, {
          ...request,
          messages: Array.isArray(messages) ? messages : [],
          input: input ?? [],
          contents: contents ?? [],
        }),
      ).toMatchObject({ images: 0, imageBytes: 0 });
    }
  },
);
