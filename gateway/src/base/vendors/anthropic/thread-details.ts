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
  const found: unknown =
    typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : null;
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : {};
}

/** The name of a field or setting, and nothing that could be a sentence. */
function isWord(name: unknown): boolean {
  return typeof name === 'string' && /^[a-z_]{1,40}$/.test(name);
}
