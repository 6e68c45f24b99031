import { inArea, mark, type Members, outputMessage, outputText, textBlock } from './feature.ts';

const bytes = 'bWFya2Vk';
const part = (mimeType: string) => ({ parts: [{ inlineData: { mimeType, data: bytes } }] });
const imagePart = (url: string) => ({
  message: { content: 'so', images: [{ type: 'image_url', image_url: { url } }] },
});
const asMarkdown = 'is a Markdown image to chat and messages';
const noPlace = 'only generateContent has a place for it';

export const media = inArea('Pictures, sound, files', [
  {
    name: 'a picture',
    shown: bytes,
    why: asMarkdown,
    of: {
      chat: imagePart(`data:image/png;base64,${bytes}`),
      responses: { output: [{ type: 'image_generation_call', id: 'ig_1', result: bytes }] },
      'generate-content': part('image/png'),
    },
  },
  {
    name: 'a picture, by its address',
    why: asMarkdown,
    of: {
      chat: imagePart(`https://${mark}.example/a.png`),
      'generate-content': {
        parts: [{ fileData: { mimeType: 'image/png', fileUri: `https://${mark}.example/a.png` } }],
      },
    },
  },
  {
    name: 'sound',
    shown: bytes,
    why: 'only generateContent has a place for it, and chat does not say of what kind it is',
    of: {
      chat: { message: { content: null, audio: { id: 'a', data: bytes, expires_at: 1 } } },
      'generate-content': part('audio/wav'),
    },
  },
  {
    name: 'the words of sound',
    why: 'are text',
    of: {
      chat: {
        message: { content: null, audio: { id: 'a', data: bytes, transcript: mark } },
      },
    },
  },
  { name: 'a film', shown: bytes, why: noPlace, of: { 'generate-content': part('video/mp4') } },
  {
    name: 'a file',
    shown: bytes,
    why: noPlace,
    of: { 'generate-content': part('application/pdf') },
  },
]);

const item = (type: string, more: Members) => ({
  output: [{ type, id: 'x_1', status: 'completed', ...more }, outputMessage(outputText('so'))],
});
const used = (name: string, result: Members) => ({
  things: 2,
  content: [
    { type: 'server_tool_use', id: 'srvtoolu_1', name, input: { query: mark } },
    { tool_use_id: 'srvtoolu_1', ...result },
    textBlock('so'),
  ],
});
const told = (part: Members) => ({ parts: [part, { text: 'so' }] });
const found = (candidate: Members) => ({ candidate });
const inWords = 'generateContent’s code is said in words; other traces mean nothing elsewhere';
const vendorOnly = 'only its vendor can go on with it';

export const hosted = inArea('Tools that the vendor runs', [
  {
    name: 'a web search',
    why: 'only its vendor understands the trace; of generateContent’s, whose sources are citations, it is not told',
    harmless: true,
    of: {
      responses: item('web_search_call', { action: { type: 'search', query: mark } }),
      messages: used('web_search', {
        type: 'web_search_tool_result',
        content: [{ type: 'web_search_result', url: `https://${mark}.example` }],
      }),
      'generate-content': found({ groundingMetadata: { webSearchQueries: [mark] } }),
    },
  },
  {
    name: 'what must be shown beside a search (`searchEntryPoint`)',
    why: 'a widget of its vendor',
    harmless: true,
    of: {
      'generate-content': found({
        groundingMetadata: { searchEntryPoint: { renderedContent: mark } },
      }),
    },
  },
  {
    name: 'a page that was read',
    why: 'as with a search',
    harmless: true,
    of: {
      messages: used('web_fetch', {
        type: 'web_fetch_tool_result',
        content: { type: 'web_fetch_result', url: `https://${mark}.example` },
      }),
      'generate-content': found({
        urlContextMetadata: { urlMetadata: [{ retrievedUrl: `https://${mark}.example` }] },
      }),
    },
  },
  {
    name: 'code that was run',
    why: inWords,
    of: {
      responses: item('code_interpreter_call', { code: mark, container_id: 'c' }),
      messages: used('code_execution', {
        type: 'code_execution_tool_result',
        content: { type: 'code_execution_result', stdout: mark },
      }),
      'generate-content': told({ executableCode: { language: 'PYTHON', code: mark } }),
    },
  },
  {
    name: 'what it gave',
    why: inWords,
    of: {
      'generate-content': told({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: mark } }),
    },
  },
  {
    name: 'a search in files',
    why: vendorOnly,
    of: { responses: item('file_search_call', { queries: [mark] }) },
  },
  {
    name: 'a call of an MCP server',
    why: vendorOnly,
    of: {
      responses: item('mcp_call', { name: mark, server_label: 'a', arguments: '{}' }),
      messages: used('x', { type: 'mcp_tool_result', content: [textBlock(mark)] }),
    },
  },
  {
    name: 'a call that its own clients carry out (shell, computer, patch)',
    why: 'no other client is offered the tool',
    of: { responses: item('local_shell_call', { call_id: 'c', action: { command: [mark] } }) },
  },
  {
    name: 'a compacted conversation',
    why: vendorOnly,
    of: {
      responses: item('compaction', { encrypted_content: mark }),
      messages: { content: [{ type: 'compaction', content: mark }, textBlock('so')] },
    },
  },
  {
    name: 'a file for the vendor’s own tool',
    why: vendorOnly,
    of: {
      messages: { content: [{ type: 'container_upload', file_id: mark }, textBlock('so')] },
    },
  },
  {
    name: 'a piece that nobody knows',
    why: 'nobody else can know it',
    of: {
      chat: { message: { content: [{ type: 'x_unknown', value: mark }, textBlock('so')] } },
      responses: item('x_unknown', { value: mark }),
      messages: { content: [{ type: 'x_unknown', value: mark }, textBlock('so')] },
      'generate-content': told({ xUnknown: mark }),
    },
  },
]);
