import type { FaultTable } from '../fault-table.ts';

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
