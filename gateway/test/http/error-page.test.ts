import { test } from 'vitest';
import { catalogue, GatewayError, type ErrorName } from '#errors/index.ts';
import { textProtocols } from '#protocols/index.ts';
import { assertWritten, table } from '../support/written-page.ts';
import { errorMeanings } from './error-meanings.ts';
import { bearer, call, startGateway, type ClientResponse } from './support.ts';

const surfaces = [
  { title: 'chat', name: 'chat', path: '/v1/chat/completions' },
  { title: 'responses', name: 'responses', path: '/v1/responses' },
  { title: 'messages', name: 'messages', path: '/v1/messages' },
  {
    title: 'generateContent',
    name: 'generate-content',
    path: '/v1beta/models/demo-chat:streamGenerateContent?alt=sse',
  },
] as const;

/** Their responses are not streamed. */
const videos = [
  { title: 'video synthesis', path: '/v1/services/aigc/video-generation/video-synthesis' },
  { title: 'contents generations', path: '/api/v3/contents/generations/tasks' },
] as const;

test('docs/errors.md lists every error of the catalogue as it is rendered', async () => {
  let next = new GatewayError('internal_error');
  const { port } = await startGateway({ run: () => Promise.reject(next) });
  const answer = (path: string, error: GatewayError): Promise<ClientResponse> => {
    next = error;
    const headers = { ...bearer(), 'x-dashscope-async': 'enable' };
    return call(port, path, { headers, body: '{}' });
  };

  const parts = [await describeShapes(answer), await describeErrors(answer)];
  assertWritten('errors.md', parts.join('\n\n'));
});

type Ask = (path: string, error: GatewayError) => Promise<ClientResponse>;

/** One error in every shape, before a response and inside of a stream. */
async function describeShapes(answer: Ask): Promise<string> {
  const error = new GatewayError('channels_rate_limited', { retryAfter: 20 });
  const sections = [];
  for (const { title, name, path } of surfaces) {
    const { text } = await answer(path, error);
    const frames = textProtocols[name].encodeStreamError(error, 'req_…', null);
    const body = text.replace(/req_[\w-]{24}/, 'req_…');
    sections.push(`### ${title}\n\n\`\`\`\n${body}\n\n${frames.trimEnd()}\n\`\`\``);
  }
  for (const { title, path } of videos) {
    const { text } = await answer(path, error);
    const body = text.replace(/req_[\w-]{24}/, 'req_…').replace(/[\da-f]{8}-[-\da-f]{27}/, '…');
    sections.push(`### ${title}\n\n\`\`\`\n${body}\n\`\`\``);
  }
  return ['## The shapes', ...sections].join('\n\n');
}

/** Every error: what stands in each protocol's members, and whether an SDK may try again by itself. */
async function describeErrors(answer: Ask): Promise<string> {
  const [chat, , messages, generateContent] = surfaces;
  const lines = [];
  for (const name of Object.keys(catalogue) as ErrorName[]) {
    const error = new GatewayError(name, { values: holesOf(name) });
    const inChat = await answer(chat.path, error);
    const inMessages = await answer(messages.path, error);
    const inContent = await answer(generateContent.path, error);
    const inSynthesis = await answer(videos[0].path, error);
    const inContents = await answer(videos[1].path, error);
    const { type, code } = errorOf(inChat);
    lines.push([
      String(inChat.status),
      `\`${error.message}\``,
      type === errorOf(inMessages).type
        ? `\`${type}\``
        : `\`${type}\`, \`${errorOf(inMessages).type}\``,
      code === null ? '' : `\`${code}\``,
      `\`${errorOf(inContent).status}\``,
      `\`${String(inSynthesis.json?.['code'])}\``,
      `\`${errorOf(inContents).code}\``,
      inChat.headers['x-should-retry'] === 'false' ? 'no' : '',
      errorMeanings[name],
    ]);
  }
  const header = [
    'Status',
    '`message`',
    '`type`',
    '`code`',
    '`status`',
    'Video 1',
    'Video 2',
    'Again',
    'When',
  ];
  return `## All of them\n\n${table([header, ...lines])}`;
}

interface ErrorMembers {
  readonly type: string;
  readonly code: string | null;
  readonly status: string;
}

function errorOf({ json }: ClientResponse): ErrorMembers {
  return json?.['error'] as unknown as ErrorMembers;
}

/** The holes of a message are shown by their names. */
function holesOf(name: ErrorName): Record<string, string> {
  const holes = catalogue[name].message.matchAll(/\{(\w+)\}/g);
  return Object.fromEntries(Array.from(holes, ([, hole = '']) => [hole, `<${hole}>`]));
}
