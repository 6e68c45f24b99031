import type { UsageEntry } from '#usage/index.ts';
import type { Recording } from '../recordings/recordings.ts';
import { dataOf, expectedEvents } from './expected-events.ts';
import { isStream } from './recorded-request.ts';

type Tokens = UsageEntry['tokens'];
type Counts = Readonly<Record<string, unknown>>;

/** Servers whose counts do not mean what their protocol documents; their own totals and prices show what they mean. */
const deviations: Readonly<Record<string, Partial<Tokens>>> = {
  // The total exceeds prompt and completion: hidden reasoning.
  'chat-google-json-f2ed7a4c': { output: 34, reasoning: 28 },
  // `num_cached_tokens` beside the counts.
  'chat-mistral-json-33db8e46': { input: 1, cache_read: 174 },
  // More reasoning than completion: it lies beside it.
  'chat-vercel-gateway-json-26fcf7ac': { output: 10 + 96 },
  'chat-vercel-gateway-stream-28cde81d': { output: 10 + 37 },
  'chat-vercel-gateway-stream-a9179bb1': { output: 14 + 43 },
  // The total is the sum of prompt, completion and reasoning.
  'chat-xai-json-03f52277': { output: 68 + 148 },
  'chat-xai-stream-09016312': { output: 68 + 266 },
  'chat-xai-stream-2f44e950': { output: 44 + 257 },
  'chat-xai-stream-3b065acc': { output: 68 + 136 },
};

/**
 * The tokens a recording reports, made disjoint by the documented meaning of each protocol's counts; null when it
 * reports none. Written from the protocols' documentation, not from the gateway's code.
 */
export function usageIn(recording: Recording): Tokens | null {
  const reported = documented(recording);
  return reported && { ...reported, ...deviations[recording.id] };
}

function documented(recording: Recording): Tokens | null {
  const payloads = isStream(recording)
    ? expectedEvents(recording, true).map(dataOf)
    : [recording.body];
  const objects = payloads.filter(isObject);
  switch (recording.protocol) {
    case 'chat': {
      const usage = last(objects, (object) => object['usage'] ?? at(object, 'x_groq')['usage']);
      return usage && inclusive(usage, 'prompt', 'completion');
    }
    case 'responses': {
      const usage = last(objects, (object) => object['usage'] ?? at(object, 'response')['usage']);
      return usage && inclusive(usage, 'input', 'output');
    }
    case 'messages': {
      const all = objects.map((object) => object['usage'] ?? at(object, 'message')['usage']);
      const usages = all.filter(isObject);
      return usages.length === 0 ? null : exclusive(Object.assign({}, ...usages.map(present)));
    }
    case 'generate-content': {
      const usage = last(objects, (object) => object['usageMetadata']);
      return usage && metadata(usage);
    }
  }
}

/** The prompt includes the cached part, the output includes the reasoning. */
function inclusive(usage: Counts, inName: string, outName: string): Tokens {
  const input = at(usage, `${inName}_tokens_details`);
  const cache_read = count(input['cached_tokens'] ?? usage['prompt_cache_hit_tokens']);
  const cache_write = count(input['cache_write_tokens']);
  return {
    input: count(usage[`${inName}_tokens`]) - cache_read - cache_write,
    cache_read,
    cache_write,
    cache_write_1h: 0,
    output: count(usage[`${outName}_tokens`]),
    reasoning: count(at(usage, `${outName}_tokens_details`)['reasoning_tokens']),
  };
}

/**
 * The input excludes what was read from and written to the cache. Where there are iterations, their sum is billed, without
 * the attempt that was declined before a fallback responded; only the counts beside them know the reasoning.
 */
function exclusive(usage: Counts): Tokens {
  const counts = exclusiveCounts(usage);
  const { iterations } = usage;
  if (!Array.isArray(iterations)) return counts;
  const billed = iterations.filter(
    (each: Counts) =>
      each['output_tokens'] !== 0 ||
      !iterations.some(({ type }: Counts) => type === 'fallback_message'),
  );
  const parts = billed.map(exclusiveCounts);
  const sumOf = (part: keyof Tokens) => parts.reduce((sum, each) => sum + each[part], 0);
  return {
    input: sumOf('input'),
    cache_read: sumOf('cache_read'),
    cache_write: sumOf('cache_write'),
    cache_write_1h: sumOf('cache_write_1h'),
    output: sumOf('output'),
    reasoning: counts.reasoning,
  };
}

function exclusiveCounts(usage: Counts): Tokens {
  const cache_write_1h = count(at(usage, 'cache_creation')['ephemeral_1h_input_tokens']);
  return {
    input: count(usage['input_tokens']),
    cache_read: count(usage['cache_read_input_tokens']),
    cache_write: count(usage['cache_creation_input_tokens']) - cache_write_1h,
    cache_write_1h,
    output: count(usage['output_tokens']),
    reasoning: count(at(usage, 'output_tokens_details')['thinking_tokens']),
  };
}

/** The prompt includes the cached part, the candidates exclude the thoughts. */
function metadata(usage: Counts): Tokens {
  const cache_read = count(usage['cachedContentTokenCount']);
  const reasoning = count(usage['thoughtsTokenCount']);
  return {
    input: count(usage['promptTokenCount']) - cache_read + count(usage['toolUsePromptTokenCount']),
    cache_read,
    cache_write: 0,
    cache_write_1h: 0,
    output: count(usage['candidatesTokenCount']) + reasoning,
    reasoning,
  };
}

function last(objects: readonly Counts[], pick: (object: Counts) => unknown): Counts | null {
  return objects.map(pick).findLast(isObject) ?? null;
}

function present(usage: Counts): Counts {
  return Object.fromEntries(Object.entries(usage).filter(([, value]) => value !== null));
}

function at(object: Counts, key: string): Counts {
  const value = object[key];
  return isObject(value) ? value : {};
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

function isObject(value: unknown): value is Counts {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
