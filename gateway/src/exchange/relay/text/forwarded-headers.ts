import type { TextProtocolName } from '#canonical/index.ts';
import { textFacts } from '#protocols/index.ts';
import { allowedAnywhere, forwardedHeaders } from '../attempts/upstream-request.ts';
import type { TextInput } from './input.ts';

/** The header that lists beta features; some of them cost extra. */
export const betaHeader = 'anthropic-beta';

/** Only for upstreams of the client's protocol; other protocols have their own versions and betas. */
const allowedInSameProtocol: readonly string[] = [
  ...allowedAnywhere,
  'anthropic-version',
  betaHeader,
  'openai-beta',
];

/**
 * The client's headers that the upstream gets.
 * @param protocol the upstream's.
 * @param betas in place of the client's betas; null: they pass as they are.
 */
export function textHeaders(
  input: Pick<TextInput, 'headers' | 'protocol'>,
  protocol: TextProtocolName,
  betas: string | null,
): Readonly<Record<string, string>> {
  const isSame = protocol === input.protocol;
  const headers = forwardedHeaders(input.headers, isSame ? allowedInSameProtocol : allowedAnywhere);
  if (betas === '') delete headers[betaHeader];
  else if (betas !== null) headers[betaHeader] = betas;
  const { requiredHeaders } = textFacts[protocol];
  for (const name in requiredHeaders) headers[name] ??= requiredHeaders[name]!;
  return headers;
}
