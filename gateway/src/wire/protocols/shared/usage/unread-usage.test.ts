import { describe, expect, it } from 'vitest';
import type { ReportedUsage } from '#canonical/index.ts';
import { readUsage as readEmbeddings } from '../../embeddings/response.ts';
import { readUsage as readMetadata } from '../../generate-content/native/response.ts';
import { readInclusiveUsage } from './inclusive-usage.ts';
import { readUsage as readMessages } from '../../messages/native/usage.ts';
import {
  embeddingMembers,
  inclusiveMembers,
  iterationMembers,
  type KnownMembers,
  messageMembers,
  metadataMembers,
} from './usage-members.ts';

const chat = (usage: object) => readInclusiveUsage(usage);
const plain = { prompt_tokens: 100, completion_tokens: 50 };

describe('counters that nothing reads', () => {
  it.each<[string, (usage: object) => ReportedUsage | null, object, readonly string[]]>([
    [
      'a detail of the output',
      chat,
      { ...plain, completion_tokens_details: { reasoning_tokens: 7, video_tokens: 40 } },
      ['completion_tokens_details.video_tokens'],
    ],
    [
      'a detail as large as the output',
      chat,
      { ...plain, completion_tokens_details: { output_video_tokens: 50 } },
      ['completion_tokens_details.output_video_tokens'],
    ],
    ['a counter of its own', chat, { ...plain, num_sources_used: 5 }, ['num_sources_used']],
    [
      'calls of a tool',
      chat,
      { ...plain, server_side_tool_usage_details: { web_search_calls: 1, x_search_calls: 2 } },
      ['server_side_tool_usage_details.x_search_calls'],
    ],
    [
      'what a member has that usually is a number',
      chat,
      { ...plain, tool_usage: { web_search: 1, mcp: 3 } },
      ['tool_usage.mcp'],
    ],
    [
      'an object nobody knows',
      chat,
      { ...plain, billed_units: { search_units: 1, by_model: [{ classifications: 2 }, {}] } },
      ['billed_units.search_units', 'billed_units.by_model.classifications'],
    ],
    ['usage in words that nobody knows', chat, { in: 7, out: 5, total: 12 }, ['in', 'out']],
    [
      'other words for the sides, with other numbers',
      chat,
      { ...plain, inputTokens: 10, outputTokens: 5 },
      ['inputTokens', 'outputTokens'],
    ],
    [
      'another lifetime of cache writes',
      (usage) => readMessages(usage),
      {
        input_tokens: 1,
        output_tokens: 2,
        cache_creation: { ephemeral_5m_input_tokens: 3, ephemeral_24h_input_tokens: 4 },
      },
      ['cache_creation.ephemeral_24h_input_tokens'],
    ],
    [
      'a counter of one sampling',
      (usage) => readMessages(usage),
      {
        input_tokens: 1,
        output_tokens: 2,
        iterations: [{ type: 'message', input_tokens: 1, output_tokens: 2, audio_seconds: 4 }],
      },
      ['iterations.audio_seconds'],
    ],
    [
      'another tool of the server',
      (usage) => readMessages(usage),
      { input_tokens: 1, output_tokens: 2, server_tool_use: { code_execution_hours: 1 } },
      ['server_tool_use.code_execution_hours'],
    ],
    [
      'another modality',
      (usage) => readMetadata(usage),
      {
        promptTokenCount: 9,
        promptTokensDetails: [
          { modality: 'TEXT', tokenCount: 4 },
          { modality: 'HOLOGRAM', tokenCount: 5 },
        ],
        candidatesTokenCount: 8,
        candidatesTokensDetails: [{ modality: 'VIDEO', tokenCount: 8 }],
      },
      ['promptTokensDetails.HOLOGRAM', 'candidatesTokensDetails.VIDEO'],
    ],
    [
      'pictures of an embedding',
      (usage) => readEmbeddings(usage),
      { prompt_tokens: 9, prompt_tokens_details: { image_tokens: 5 } },
      ['prompt_tokens_details.image_tokens'],
    ],
    [
      'the input of an embedding in words that nobody knows',
      (usage) => readEmbeddings(usage),
      { pixels: 9 },
      ['pixels'],
    ],
  ])('%s', (_, read, usage, expected) => {
    expect(read(usage)?.unread).toEqual(expected);
  });

  it.each<[string, object]>([
    ['zeros', { num_sources_used: 0, x: { y: 0 } }],
    ['texts, booleans and nothing', { tier: '7', is_byok: true, x: null, y: [], z: {} }],
    ['totals', { total_tokens: 150, totalTokens: 150, total_token_count: 150, total: 150 }],
    ['prices', { cost: 3, cost_in_usd_ticks: 9, market_cost: 1, cost_details: { upstream: 4 } }],
    ['times', { total_time: 2, queue_time_ms: 4, latency_checkpoint: { a_b: 7 }, duration: 5 }],
    ['speeds', { tokens_per_second: 70, prompt_tps: 21, generation_tps: 81 }],
    ['fractions', { share: 0.5 }],
    [
      'sides in other words',
      { input_token_count: 100, generated_tokens: 50, tokens: { inputTokens: 100 } },
    ],
  ])('are not any of these: %s', (_, more) => {
    expect(chat({ ...plain, ...more })).toEqual(chat(plain));
  });

  it('are named with bounds on their number and their length, and without odd characters', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`c${at}`, 1]));
    expect(chat({ ...plain, ...many })?.unread).toHaveLength(8);
    expect(chat({ ...plain, ['x'.repeat(500)]: 1 })?.unread).toEqual(['x'.repeat(100)]);
    expect(chat({ ...plain, 'a\nb é': 1 })?.unread).toEqual(['a?b??']);
    let deep: object = { n: 1 };
    for (let depth = 0; depth < 10_000; depth += 1) deep = { deep };
    expect(chat({ ...plain, ...deep })).toEqual(chat(plain));
  });
});

const pathsOf = (known: KnownMembers): string[] =>
  Array.from(known, ([name, inside]) =>
    typeof inside === 'string' ? [name] : pathsOf(inside).map((rest) => `${name}.${rest}`),
  ).flat();

/** The usage with a large number at the path. */
function withAt(usage: object, path: string): object {
  const [name = '', ...rest] = path.split('.');
  const inner = (usage as Record<string, unknown>)[name] ?? {};
  return { ...usage, [name]: rest.length === 0 ? 700 : withAt(inner, rest.join('.')) };
}

describe('a known member is read, or repeats what others say', () => {
  const unaffected = (
    known: KnownMembers,
    read: (usage: object) => ReportedUsage | null,
    usage: object,
  ) => pathsOf(known).filter((path) => isSame(read(withAt(usage, path)), read(usage)));
  const isSame = (some: unknown, other: unknown) => JSON.stringify(some) === JSON.stringify(other);

  it('in chat, responses and images', () => {
    const usage = { ...plain, cache_creation_input_tokens: 650 };
    const echoes = unaffected(inclusiveMembers, chat, usage);
    expect(echoes.filter((path) => !/^(in|out|prompt|completion).*_details\./.test(path))).toEqual([
      'total_tokens',
      'cache_creation.ephemeral_5m_input_tokens',
      'server_tool_use.web_fetch_requests',
      'server_tool_use_details.tool_calls_requested',
      'server_tool_use_details.tool_calls_executed',
      'input_images',
      'generated_images',
      'prompt_cache_miss_tokens',
      'context_details',
      'num_server_side_tools_used',
      'x_details',
      'draft_tokens',
    ]);
    const details = echoes.flatMap((path) => /_tokens_details\.(.*)/.exec(path)?.[1] ?? []);
    // Audio and images have tests of their own.
    expect([...new Set(details)].filter((name) => !/audio|image/.test(name))).toEqual([
      'cache_write_tokens_details.ttl_30m_tokens',
      'cache_creation_token_details.ephemeral_5m_input_tokens',
      'cache_creation.ephemeral_5m_input_tokens',
      'cached_tokens_details.text_tokens',
      'text_tokens',
      'video_tokens',
      'accepted_prediction_tokens',
      'rejected_prediction_tokens',
    ]);
  });

  it('in messages', () => {
    const usage = { input_tokens: 1, output_tokens: 9 };
    const own = new Map(messageMembers);
    own.delete('iterations');
    expect(unaffected(own, (each) => readMessages(each), usage)).toEqual([
      'server_tool_use.web_fetch_requests',
    ]);
    const one = (entry: object) => readMessages({ ...usage, iterations: [{ ...usage, ...entry }] });
    expect(unaffected(iterationMembers, one, usage)).toEqual([]);
  });

  it('in metadata', () => {
    const usage = { promptTokenCount: 100, candidatesTokenCount: 50 };
    expect(
      unaffected(metadataMembers, (each) => readMetadata(each), usage).filter(
        (path) => !path.includes('Details.'),
      ),
    ).toEqual(['totalTokenCount', 'billablePromptUsage', 'trafficType']);
  });

  it('of embeddings', () => {
    expect(unaffected(embeddingMembers, (each) => readEmbeddings(each), {})).toEqual([
      'prompt_tokens_details.text_tokens',
      'input_tokens_details.text_tokens',
    ]);
  });
});
