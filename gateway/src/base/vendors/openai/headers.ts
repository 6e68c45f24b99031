/** The OpenAI style credential; nothing for a server that wants none. */
export function bearer(secret: string | null): Readonly<Record<string, string>> {
  return secret === null ? {} : { authorization: `Bearer ${secret}` };
}
