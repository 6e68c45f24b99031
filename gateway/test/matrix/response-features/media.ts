import { inArea, mark, type Members, outputMessage, outputText, textBlock } from './feature.ts';

const bytes = 'bWFya2Vk';
const part = (mimeType: string) => ({ parts: [{ inlineData: { mimeType, data: bytes } }] });
const imagePart = (url: string) => ({
  message: { content: 'so', images: [{ type: 'image_url', image_url: { url } }] },
});
const asMarkdown = 'becomes a Markdown image for chat and messages';
const noPlace = 'only generateContent can hold it';

export const media = inArea('Images, audio, files', [
  {
    name: 'an image',
    shown: bytes,
    why: asMarkdown,
    of: {
      chat: imagePart(`data:image/png;base64,${bytes}`),
      responses: { output: [{ type: 'image_generation_call', id: 'ig_1', result: bytes }] },
      'generate-content': part('image/png'),
    },
  },
  {
    name: 'an image by address',
    why: asMarkdown,
    of: {
      chat: imagePart(`https://${mark}.example/a.png`),
      'generate-content': {
        parts: [{ fileData: { mimeType: 'image/png', fileUri: `https://${mark}.example/a.png` } }],
      },
    },
  },
  {
    name: 'audio',
    shown: bytes,
    why: 'only generateContent can hold it, and chat does not report its type',
    of: {
      chat: { message: { content: null, audio: { id: 'a', data: bytes, expires_at: 1 } } },
      'generate-content': part('audio/wav'),
    },
  },
  {
    name: 'the transcript of audio',
    why: 'becomes text',
    of: {
      chat: {
        message: { content: null, audio: { id: 'a', data: bytes, transcript: mark } },
      },
    },
  },
  { name: 'video', shown: bytes, why: noPlace, of: { 'generate-content': part('video/mp4') } },
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
const inWords = 'generateContent’s code becomes text; other traces mean nothing elsewhere';
const vendorOnly = 'only its vendor can continue with it';

export const hosted = inArea('Tools that the vendor runs', [
  {
    name: 'a web search',
    why: 'only its vendor understands the trace; not reported for generateContent, whose sources are citations',
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
    name: 'the widget of a search (`searchEntryPoint`)',
    why: 'the vendor’s own widget',
    harmless: true,
    of: {
      'generate-content': found({
        groundingMetadata: { searchEntryPoint: { renderedContent: mark } },
      }),
    },
  },
  {
    name: 'a fetched page',
    why: 'as for a search',
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
    name: 'executed code',
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
    name: 'its result',
    why: inWords,
    of: {
      'generate-content': told({ codeExecutionResult: { outcome: 'OUTCOME_OK', output: mark } }),
    },
  },
  {
    name: 'a file search',
    why: vendorOnly,
    of: { responses: item('file_search_call', { queries: [mark] }) },
  },
  {
    name: 'a call to an MCP server',
    why: vendorOnly,
    of: {
      responses: item('mcp_call', { name: mark, server_label: 'a', arguments: '{}' }),
      messages: used('x', { type: 'mcp_tool_result', content: [textBlock(mark)] }),
    },
  },
  {
    name: 'a call that the vendor’s clients execute (shell, computer, patch)',
    why: 'other clients do not have the tool',
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
    name: 'an unknown part',
    why: 'unknown to every other protocol',
    of: {
      chat: { message: { content: [{ type: 'x_unknown', value: mark }, textBlock('so')] } },
      responses: item('x_unknown', { value: mark }),
      messages: { content: [{ type: 'x_unknown', value: mark }, textBlock('so')] },
      'generate-content': told({ xUnknown: mark }),
    },
  },
]);
