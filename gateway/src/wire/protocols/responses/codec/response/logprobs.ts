import type { TokenLogprob } from '#canonical/index.ts';
import { isRecord } from '../../../shared/values.ts';

/** Undefined if the list is empty, as it is in most deltas. */
export function decodeLogprobs(list: unknown): TokenLogprob[] | undefined {
  if (!Array.isArray(list) || list.length === 0) return undefined;
  return list.filter(isRecord).map((entry) => ({
    ...decodeToken(entry),
    top: Array.isArray(entry['top_logprobs'])
      ? entry['top_logprobs'].filter(isRecord).map(decodeToken)
      : [],
  }));
}

function decodeToken(entry: Readonly<Record<string, unknown>>): Omit<TokenLogprob, 'top'> {
  const { token, logprob, bytes } = entry;
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) && bytes.length > 0 ? (bytes as number[]) : null,
  };
}

/** The official types require `bytes`. The list is empty if the upstream sent none. */
export function encodeLogprobs(list: readonly TokenLogprob[]): object[] {
  return list.map(({ token, logprob, bytes, top }) => ({
    token,
    logprob,
    bytes: bytes ?? [],
    top_logprobs: top.map((other) => ({ ...other, bytes: other.bytes ?? [] })),
  }));
}
