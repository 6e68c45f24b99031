/** Standard since 2025, missing from the compiler's library: https://github.com/tc39/proposal-json-parse-with-source */
interface JsonWithSource {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { readonly source?: string }) => unknown,
  ): unknown;
}

/** Fewer digits are always exact. */
const manyDigits = /\d{16}/;

/**
 * Parses JSON whose ids may be numbers: an integer that a double would change is the text of its digits.
 * @throws SyntaxError
 */
export function parseWithIds(json: Buffer): unknown {
  const text = json.toString('utf8');
  if (!manyDigits.test(text)) return JSON.parse(text);
  return (JSON as unknown as JsonWithSource).parse(text, (_, value, { source }) =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^\d+$/.test(source ?? '')
      ? source
      : value,
  );
}
