import type { SurchargeFacts, Vendor, VendorPaths, FaultTable } from '../vendor.ts';
import { plainTraits } from '../traits.ts';

/** https://platform.claude.com/docs/en/api/errors, and what its subscriptions answer. */
export const anthropicFaults: FaultTable = {
  words: {
    invalid_request_error: 400,
    authentication_error: 401,
    billing_error: 402,
    permission_error: 403,
    not_found_error: 404,
    request_too_large: 'body_too_large',
    rate_limit_error: 429,
    api_error: 500,
    timeout_error: 504,
    overloaded_error: 529,
  },
  texts: [
    // "prompt is too long: 213462 tokens > 200000 maximum"; Fireworks and Ollama say it likewise.
    [/prompt (is )?too long/i, 'context_overflow'],
    // "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000"
    [/exceed(s|ed)? (the )?(model's )?(max(imum)? )?context/i, 'context_overflow'],
    // With 400: "Your credit balance is too low to access the Anthropic API."
    [/^your credit balance is too low/i, 'account'],
    // "You have reached your specified API usage limits. You will regain access on …", also with `workspace`.
    [/reached your specified (api |workspace )?(api )?usage limits/i, 'account'],
    [/(organization|account) has been disabled/i, 'account'],
    // Subscriptions, https://github.com/anthropics/claude-code/issues: "Third-party apps now draw from your extra usage, not
    // your plan limits."; "You're out of extra usage."; "Extra usage is required for long context requests."
    [/draw from your extra usage|out of extra usage|extra usage is required/i, 'account'],
    // "This credential is only authorized for use with Claude Code and cannot be used for other API requests."
    [/credential is only authorized for use with/i, 'account'],
    // "messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes"
    [/image exceeds \d+ MB maximum|could not process image/i, 'client'],
  ],
};

/**
 * Tokens of the shortest prompt that is cached, by model, as
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching#cache-limitations lists them; shorter ones are read
 * without a cache, and without an error. The first that matches.
 */
const leastCachedByName: readonly (readonly [RegExp, number])[] = [
  [/mythos-preview|opus-4[-.]7|4[-.]7-opus|3-haiku|3-5-haiku|haiku-3/, 2048],
  [/opus-4[-.][56]|4[-.][56]-opus|haiku-4[-.]5|4[-.]5-haiku/, 4096],
  [/(opus|fable|mythos)-[5-9]/, 512],
];

/** Tokens of the shortest prompt that a model caches. */
export function leastCachedOf(model: string): number {
  const name = model.toLowerCase();
  return leastCachedByName.find(([names]) => names.test(name))?.[1] ?? 1024;
}

export const anthropicPaths = {
  messages: { generate: '/messages', 'count-tokens': '/messages/count_tokens' },
} satisfies VendorPaths;

export function anthropicHeaders(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { 'x-api-key': secret };
}

/**
 * Its "Pricing" page: fast mode, and inference in one region. Its priority tier is paid for beforehand. Prompts above
 * 200 000 tokens cost more on models whose window is larger only by beta.
 */
export const anthropicSurcharges: SurchargeFacts = {
  dear: ['speed.fast', 'inference_geo.*'],
  betas: [
    { prefix: 'fast-mode', term: 'speed.fast' },
    { prefix: 'context-1m', windowAbove: 200_000 },
  ],
};

export const anthropic = {
  name: 'anthropic',
  baseUrl: 'https://api.anthropic.com/v1',
  versionPath: '/v1',
  protocols: ['messages'],
  environmentKey: 'ANTHROPIC_API_KEY',
  keyBeginnings: ['sk-ant-'],
  ownedBy: 'anthropic',
  countsTokensIn: ['messages'],
  paths: anthropicPaths,
  headers: anthropicHeaders,
  surcharges: anthropicSurcharges,
  traitsOf: (model: string) => ({ ...plainTraits, leastCached: leastCachedOf(model) }),
} satisfies Vendor;

/** Why a thread cannot be continued. The SDK then sends the whole conversation by itself. */
const threadErrors: ReadonlySet<unknown> = new Set([
  'thread_already_continued',
  'thread_continue_in_flight',
  'thread_fingerprint_mismatch',
  'thread_not_found',
  'thread_unsupported_request',
]);

/** What the official SDK acts on, of an error of Anthropic's; null for any other error. */
export function threadDetails(body: unknown): Readonly<Record<string, unknown>> | null {
  const details = recordIn(recordIn(body, 'error'), 'details');
  const { error_code: code, unsupported } = details;
  if (!threadErrors.has(code)) return null;
  const names = Array.isArray(unsupported) ? unsupported.filter(isWord) : [];
  return { error_code: code, ...(names.length > 0 && { unsupported: names }) };
}

function recordIn(value: unknown, name: string): Readonly<Record<string, unknown>> {
  const member: unknown =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null;
  return typeof member === 'object' && member !== null ? (member as Record<string, unknown>) : {};
}

/** The name of a field or setting, and nothing that could be a sentence. */
function isWord(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z_]{1,40}$/.test(name);
}
