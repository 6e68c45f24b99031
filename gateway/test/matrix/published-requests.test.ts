import { execFile } from 'node:child_process';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { chat } from './features/chat.ts';
import type { ClientFeatures } from './features/feature.ts';
import { generateContent } from './features/generate-content.ts';
import { messages } from './features/messages.ts';
import { responses } from './features/responses.ts';
import { convertRequest } from './features/run.ts';
import { recordings } from '../recordings/recordings.ts';

/*
 * What the encoders write is what the vendors publish: each converted request is checked against the types of the vendor's
 * own SDK, which are made from the description of its API, by the compiler. An unknown member of a literal is an error to it, and
 * so is a missing one: strict servers (vLLM validates with the models of the SDK) refuse both.
 */

/** The type of a request, by the protocol of the upstream. */
const published: Readonly<Record<TextProtocolName, string>> = {
  chat: `import type OpenAI from 'openai';
type Request = OpenAI.ChatCompletionCreateParams;`,
  responses: `import type OpenAI from 'openai';
type Request = OpenAI.Responses.ResponseCreateParams;`,
  messages: `import type Anthropic from '@anthropic-ai/sdk';
// The models of the table are older than the version of the API that dropped it.
type Request = Anthropic.MessageCreateParams & { top_p?: number };`,
  // The SDK has types for the parts, with enumerations in place of their words.
  'generate-content': `import type { Content, GenerationConfig, SafetySetting, Tool, ToolConfig } from '@google/genai';
type Words<T> = T extends string ? \`\${T}\` : T extends object ? { [K in keyof T]: Word<K, T[K]> } : T;
// Protocol buffers take a number for one of 64 bits, which the SDK has as a text.
type Word<K, T> = K extends \`\${'min' | 'max'}\${'Items' | 'Length' | 'Properties'}\` ? Words<T> | number : Words<T>;
type Request = Words<{
  contents: Content[];
  systemInstruction?: Content;
  tools?: Tool[];
  toolConfig?: ToolConfig;
  safetySettings?: SafetySetting[];
  generationConfig?: GenerationConfig;
  cachedContent?: string;
}>;`,
};

interface Sent {
  readonly name: string;
  readonly body: string;
}

interface Served {
  readonly upstream: TextProtocolName;
  readonly provider: string;
  readonly model: string;
}

const targets: readonly Served[] = [
  { upstream: 'chat', provider: 'openai-compatible', model: 'llama-4' },
  { upstream: 'chat', provider: 'openai', model: 'gpt-4.1' },
  { upstream: 'responses', provider: 'openai', model: 'gpt-5.1' },
  { upstream: 'responses', provider: 'openai-compatible', model: 'llama-4' },
  { upstream: 'messages', provider: 'anthropic', model: 'claude-opus-4-6' },
  { upstream: 'generate-content', provider: 'gemini', model: 'gemini-3-pro' },
];

/** Every feature that a client can write, and every request that was recorded. */
async function sentTo({ upstream, provider, model }: Served): Promise<Sent[]> {
  const sent: Sent[] = [];
  const send = async (client: TextProtocolName, name: string, json: object): Promise<void> => {
    if (client === upstream) return;
    const converted = await convertRequest(client, upstream, { ...json }, { provider, model });
    if ('body' in converted) sent.push({ name: `${client}: ${name}`, body: converted.body });
  };
  for (const client of [chat, responses, messages, generateContent]) {
    for (const { name, json } of requestsOf(client)) await send(client.client, name, json);
  }
  for (const { protocol, id, request } of recordings) {
    if (request !== null) await send(protocol, id, request);
  }
  return sent;
}

function requestsOf({ plain, features }: ClientFeatures) {
  return [
    { name: 'plain', json: plain },
    ...features.map(({ name, body }) => ({ name, json: { ...plain, ...body } })),
  ];
}

/** The lines of the compiler's refusals, with the request in place of its line. */
async function refusals(upstream: TextProtocolName, sent: readonly Sent[]): Promise<string[]> {
  const folder = await mkdtemp(path.join(tmpdir(), 'published-'));
  try {
    await symlink(path.resolve('node_modules'), path.join(folder, 'node_modules'));
    const lines = sent.map(({ body }, at) => `export const r${at}: Request = ${body};`);
    const head = published[upstream];
    await writeFile(path.join(folder, 'requests.ts'), [head, ...lines].join('\n'));
    const flags = '--noEmit --strict --skipLibCheck --module nodenext --target esnext --types node';
    const compiler = path.resolve('node_modules/.bin/tsc');
    const run = promisify(execFile)(compiler, [...flags.split(' '), 'requests.ts'], {
      cwd: folder,
      maxBuffer: 64 * 1024 * 1024,
    });
    const output = await run.then(
      () => '',
      (error: { stdout: string }) => error.stdout,
    );
    const first = head.split('\n').length + 1;
    return output.split('\n').flatMap((line) => {
      const [, at, why = ''] = /^requests\.ts\((\d+),\d+\): error (.*)$/.exec(line) ?? [];
      return at === undefined ? [] : [`${sent[Number(at) - first]?.name ?? 'the types'}: ${why}`];
    });
  } finally {
    await rm(folder, { recursive: true });
  }
}

test.each(targets)(
  'requests to $upstream ($model) are what its vendor publishes',
  async (target) => {
    const sent = await sentTo(target);
    expect(sent.length).toBeGreaterThan(50);
    expect(await refusals(target.upstream, sent)).toEqual([]);
  },
);
