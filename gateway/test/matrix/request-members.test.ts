import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { textProtocolNames } from '../support/convert.ts';
import type { Feature } from './features/feature.ts';
import { citySchema } from './features/feature.ts';
import { outcomeOf } from './features/run.ts';

/*
 * Every member that the official SDKs declare for requests, at every foreign upstream: carried, approximated, dropped
 * and reported, or refused. A new release with a new member fails here until somebody has decided what becomes of it.
 */

type Json = Readonly<Record<string, unknown>>;

interface Client {
  readonly client: TextProtocolName;
  /** Where the SDK declares its requests. */
  readonly file: string;
  readonly declaration: string;
  readonly plain: Json;
  /** What every request has, and what the SDK keeps to itself or some protocol has elsewhere than in the body. */
  readonly elsewhere: readonly string[];
  /** Nothing of the response depends on them: they may stay away in silence. */
  readonly harmless: readonly string[];
  /** A value of each other member that says something. */
  readonly samples: Json;
  /** What the member needs beside it. */
  readonly beside?: Readonly<Record<string, Json>>;
  /** The body with this member. */
  readonly place?: (name: string, value: unknown) => Json;
}

const tool = { type: 'function', function: { name: 'f', parameters: citySchema } };
const ownTool = { type: 'function', name: 'f', parameters: citySchema };
const schema = { name: 'city', schema: citySchema };

const clients: readonly Client[] = [
  {
    client: 'chat',
    file: 'openai/resources/chat/completions/completions.d.ts',
    declaration: 'ChatCompletionCreateParamsBase',
    plain: { messages: [{ role: 'user', content: 'hello' }] },
    elsewhere: ['messages', 'model', 'stream'],
    harmless: ['metadata', 'stream_options'],
    beside: {
      function_call: { functions: [{ name: 'f', parameters: citySchema }] },
      parallel_tool_calls: { tools: [tool] },
      stream_options: { stream: true },
      tool_choice: { tools: [tool] },
      top_logprobs: { logprobs: true },
    },
    samples: {
      audio: { format: 'wav', voice: 'alloy' },
      frequency_penalty: 0.5,
      function_call: { name: 'f' },
      functions: [{ name: 'f', parameters: citySchema }],
      logit_bias: { 1: 5 },
      logprobs: true,
      max_completion_tokens: 100,
      max_tokens: 100,
      metadata: { a: 'b' },
      modalities: ['text', 'audio'],
      moderation: { model: 'omni' },
      n: 2,
      parallel_tool_calls: false,
      prediction: { type: 'content', content: 'x' },
      presence_penalty: 0.5,
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      reasoning_effort: 'high',
      response_format: { type: 'json_schema', json_schema: schema },
      safety_identifier: 'u',
      seed: 7,
      service_tier: 'flex',
      stop: ['END'],
      store: true,
      stream_options: { include_obfuscation: false },
      temperature: 0.5,
      tool_choice: 'required',
      tools: [tool],
      top_logprobs: 2,
      top_p: 0.5,
      user: 'u',
      verbosity: 'low',
      web_search_options: {},
    },
  },
  {
    client: 'responses',
    file: 'openai/resources/responses/responses.d.ts',
    declaration: 'ResponseCreateParamsBase',
    plain: { input: 'hello' },
    elsewhere: ['input', 'model', 'stream'],
    harmless: ['metadata', 'stream_options', 'include'],
    beside: {
      parallel_tool_calls: { tools: [ownTool] },
      stream_options: { stream: true },
      tool_choice: { tools: [ownTool] },
      top_logprobs: { include: ['message.output_text.logprobs'] },
    },
    samples: {
      access_programs: ['x'],
      background: true,
      background_options: { continuation_id: 'c' },
      context_management: [{ type: 'compaction' }],
      conversation: 'conv_1',
      image: { a: 1 },
      include: ['reasoning.encrypted_content'],
      instructions: 'Be brief.',
      max_output_tokens: 100,
      max_tool_calls: 2,
      metadata: { a: 'b' },
      moderation: { model: 'omni' },
      parallel_tool_calls: false,
      previous_response_id: 'resp_1',
      prompt: { id: 'pmpt_1' },
      prompt_cache_key: 'k',
      prompt_cache_options: { mode: 'explicit' },
      prompt_cache_retention: '24h',
      reasoning: { effort: 'high' },
      safety_identifier: 'u',
      service_tier: 'flex',
      store: true,
      stream_options: { include_obfuscation: false },
      temperature: 0.5,
      text: { format: { type: 'json_schema', ...schema } },
      tool_choice: 'required',
      tools: [ownTool],
      top_logprobs: 2,
      top_p: 0.5,
      truncation: 'auto',
      user: 'u',
    },
  },
  {
    client: 'messages',
    file: '@anthropic-ai/sdk/resources/beta/messages/messages.d.ts',
    declaration: 'MessageCreateParamsBase',
    plain: { max_tokens: 1000, messages: [{ role: 'user', content: 'hello' }] },
    // Betas are a header.
    elsewhere: ['messages', 'model', 'stream', 'betas'],
    // Other vendors have other bills, and find their caches by themselves.
    harmless: ['billing_policy', 'cache_control', 'fallback_credit_token'],
    beside: { tool_choice: { tools: [{ name: 'f', input_schema: citySchema }] } },
    samples: {
      max_tokens: 100,
      billing_policy: 'x',
      cache_control: { type: 'ephemeral' },
      compaction: { type: 'enabled' },
      container: 'c_1',
      context_management: { edits: [] },
      diagnostics: { a: 1 },
      fallback_credit_token: 't',
      fallbacks: [{ model: 'claude-sonnet-5' }],
      inference_geo: 'eu',
      mcp_servers: [{ type: 'url', name: 'm', url: 'https://example.com' }],
      metadata: { user_id: 'u' },
      output_config: { effort: 'high' },
      output_format: { type: 'json_schema', schema: citySchema },
      service_tier: 'standard_only',
      speed: 'fast',
      stop_sequences: ['END'],
      system: 'Be brief.',
      thinking: { type: 'enabled', budget_tokens: 2000 },
      thread: { type: 'continue', id: 't' },
      tool_choice: { type: 'any' },
      tools: [{ name: 'f', input_schema: citySchema }],
      user_profile_id: 'u',
      workspace_id: 'w',
    },
  },
  {
    client: 'generate-content',
    file: '@google/genai/dist/genai.d.ts',
    declaration: 'GenerateContentConfig',
    plain: { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] },
    elsewhere: ['httpOptions', 'abortSignal', 'automaticFunctionCalling', 'automaticContinuation'],
    harmless: [],
    beside: {
      logprobs: { responseLogprobs: true },
      responseSchema: { responseMimeType: 'application/json' },
      responseJsonSchema: { responseMimeType: 'application/json' },
      toolConfig: { tools: [{ functionDeclarations: [{ name: 'f' }] }] },
    },
    place: placeOfGoogle,
    samples: {
      serviceTier: 'flex',
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
      temperature: 0.5,
      topP: 0.5,
      topK: 5,
      candidateCount: 2,
      maxOutputTokens: 100,
      stopSequences: ['END'],
      responseLogprobs: true,
      logprobs: 2,
      presencePenalty: 0.5,
      frequencyPenalty: 0.5,
      seed: 7,
      responseMimeType: 'application/json',
      responseSchema: { type: 'OBJECT', properties: { a: { type: 'STRING' } } },
      responseJsonSchema: citySchema,
      routingConfig: { autoMode: {} },
      modelSelectionConfig: { featureSelectionPreference: 'PRIORITIZE_COST' },
      safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      toolConfig: { functionCallingConfig: { mode: 'ANY' } },
      labels: { a: 'b' },
      cachedContent: 'cachedContents/c',
      responseModalities: ['TEXT', 'IMAGE'],
      mediaResolution: 'MEDIA_RESOLUTION_LOW',
      speechConfig: { languageCode: 'de' },
      audioTimestamp: true,
      thinkingConfig: { thinkingBudget: 2000 },
      audioTranscriptionConfig: { a: 1 },
      imageConfig: { aspectRatio: '1:1' },
      enableEnhancedCivicAnswers: true,
      modelArmorConfig: { promptTemplateName: 'x' },
      continuationToken: 't',
      generationOutputConfig: { a: 1 },
      store: true,
    },
  },
];

const besideContents = new Set([
  'serviceTier',
  'systemInstruction',
  'safetySettings',
  'tools',
  'toolConfig',
  'labels',
  'cachedContent',
  'modelArmorConfig',
  'continuationToken',
  'store',
]);

/** The SDK's settings are members of `generationConfig`, or of the body itself. */
function placeOfGoogle(name: string, value: unknown): Json {
  return besideContents.has(name) ? { [name]: value } : { generationConfig: { [name]: value } };
}

/** The members of an interface in a file of declarations. */
function declaredMembers(file: string, name: string): string[] {
  const path = new URL(`../../../node_modules/${file}`, import.meta.url);
  const text = readFileSync(path, 'utf8').replaceAll(/\/\*[^]*?\*\//g, '');
  const start = text.indexOf('{', text.search(interfaceOf(name))) + 1;
  let depth = 1;
  let own = '';
  for (let at = start; depth > 0; at += 1) {
    const letter = text[at];
    if (letter === undefined) throw new Error(`${name} in ${file} has no end`);
    if (letter === '{') depth += 1;
    else if (letter === '}') depth -= 1;
    else if (depth === 1) own += letter;
  }
  return [...own.matchAll(/(?:^|[\n;])\s*(\w+)\??\s*:/g)].map(([, member]) => member ?? '');
}

const interfaces: Readonly<Record<string, RegExp>> = {
  ChatCompletionCreateParamsBase: /interface ChatCompletionCreateParamsBase\b/,
  ResponseCreateParamsBase: /interface ResponseCreateParamsBase\b/,
  MessageCreateParamsBase: /interface MessageCreateParamsBase\b/,
  GenerateContentConfig: /interface GenerateContentConfig\b/,
};
const interfaceOf = (name: string) => interfaces[name] ?? /$^/;

describe.each(clients)('the SDK of $client', (each) => {
  const { client, file, declaration, plain, elsewhere, harmless, samples, beside = {} } = each;
  const place = each.place ?? ((name: string, value: unknown): Json => ({ [name]: value }));
  const upstreams = textProtocolNames.filter((name) => name !== client);

  test('declares no member that nobody has decided about', () => {
    const declared = declaredMembers(file, declaration);
    expect(declared.length).toBeGreaterThan(20);
    expect(Object.keys(samples).concat(elsewhere).toSorted()).toEqual(declared.toSorted());
  });

  test.each(Object.entries(samples))('%s is lost nowhere in silence', async (name, value) => {
    const needed = Object.entries(beside[name] ?? {}).map(([other, its]) => place(other, its));
    // A request for probabilities is one thing.
    const without = /logprobs/i.test(name) ? {} : merged(needed);
    const feature: Feature = {
      area: 'The conversation',
      name,
      body: merged([...needed, place(name, value)]),
      without,
      ...(harmless.includes(name) && { harmless: true }),
    };
    const outcomes = await Promise.all(
      upstreams.map((upstream) => outcomeOf({ client, plain, features: [] }, feature, upstream)),
    );
    const fates = outcomes.map(({ how }, at) => `${upstreams[at]}: ${how}`);
    expect(fates.filter((fate) => fate.endsWith('silence'))).toEqual([]);
    expect(fates).toMatchSnapshot();
  });
});

function merged(bodies: readonly Json[]): Json {
  const whole: Record<string, unknown> = {};
  for (const body of bodies) {
    for (const [name, value] of Object.entries(body)) {
      whole[name] =
        name === 'generationConfig' ? { ...(whole[name] as Json), ...(value as Json) } : value;
    }
  }
  return whole;
}
