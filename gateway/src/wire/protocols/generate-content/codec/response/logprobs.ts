import type { TokenLogprob } from '#canonical/index.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';

/** Reads `logprobsResult`, which does not have the tokens' bytes. Empty if absent. */
export function readLogprobs(value: unknown): readonly TokenLogprob[] {
  if (!isRecord(value)) return [];
  const tops = Array.isArray(value['topCandidates']) ? value['topCandidates'] : [];
  return tokens(value['chosenCandidates']).map((chosen, index) => {
    const top: unknown = tops[index];
    return { ...chosen, top: tokens(isRecord(top) ? top['candidates'] : undefined) };
  });
}

type Token = Omit<TokenLogprob, 'top'>;

function tokens(value: unknown): readonly Token[] {
  if (!Array.isArray(value)) return [];
  return value.filter(isRecord).map(({ token, logProbability }) => ({
    token: typeof token === 'string' ? token : '',
    logprob: typeof logProbability === 'number' ? logProbability : 0,
    bytes: null,
  }));
}

/** The members of a candidate for log probabilities. */
export function writeLogprobs(logprobs: readonly TokenLogprob[]): JsonRecord {
  if (logprobs.length === 0) return {};
  const write = ({ token, logprob }: Token) => ({ token, logProbability: logprob });
  const topCandidates = logprobs.map(({ top }) => ({ candidates: top.map(write) }));
  return { logprobsResult: { topCandidates, chosenCandidates: logprobs.map(write) } };
}

/** Why a prompt was blocked; null if it was not. */
export function blockReason(response: JsonRecord): string | null {
  const reason = recordAt(response, 'promptFeedback')['blockReason'];
  return typeof reason === 'string' && reason !== '' ? reason : null;
}
