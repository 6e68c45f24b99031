import {
  type Finish,
  type FinishReason,
  type TokenLogprob,
  type TokenUsage,
  inputSum,
} from '#canonical/index.ts';
import { readEnding } from '../../../shared/text/endings.ts';
import { isRecord, type JsonRecord, recordAt } from '../../../shared/values.ts';

/** Some recorders and proxies write an enumeration's number instead of its name. */
const numbered = ['FINISH_REASON_UNSPECIFIED', 'STOP', 'MAX_TOKENS', 'SAFETY', 'RECITATION'];

/** A complete call makes it a finish by tool: this protocol has no reason for that. */
export function decodeFinish(writtenReason: unknown, hasCalls: boolean): Finish {
  const name = typeof writtenReason === 'number' ? numbered[writtenReason] : writtenReason;
  if (typeof name !== 'string' || name === '') return { reason: hasCalls ? 'tool' : 'other' };
  const { reason, ...guess } = readEnding(name);
  const isPlain = reason === 'end' || reason === 'other';
  return { reason: hasCalls && isPlain ? 'tool' : reason, ...guess };
}

const names: Readonly<Record<FinishReason, string>> = {
  end: 'STOP',
  'stop-sequence': 'STOP',
  length: 'MAX_TOKENS',
  'context-full': 'MAX_TOKENS',
  tool: 'STOP',
  filtered: 'SAFETY',
  refused: 'STOP',
  pause: 'STOP',
  blocked: 'SAFETY',
  other: 'OTHER',
};

export function encodeFinish(finish: Finish): string {
  return names[finish.reason];
}

/** Reads `logprobsResult`, which does not have the tokens' bytes. Empty if absent. */
export function readLogprobs(value: unknown): readonly TokenLogprob[] {
  if (!isRecord(value)) return [];
  const tops = Array.isArray(value['topCandidates']) ? value['topCandidates'] : [];
  return tokens(value['chosenCandidates']).map((chosenCandidate, index) => {
    const top: unknown = tops[index];
    return { ...chosenCandidate, top: tokens(isRecord(top) ? top['candidates'] : undefined) };
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

/**
 * Writes `usageMetadata`: the prompt includes its cached part, candidates exclude their reasoning. Details by modality
 * are written if some tokens are not text.
 */
export function writeUsage(usage: TokenUsage): JsonRecord {
  const { cacheRead, output, reasoning } = usage;
  const { inputAudio = 0, inputImage = 0, cacheReadAudio = 0, cacheReadImage = 0 } = usage;
  const { outputAudio = 0, outputImage = 0 } = usage;
  const prompt = inputSum(usage);
  const candidates = output - reasoning;
  const isAllText =
    inputAudio + inputImage + cacheReadAudio + cacheReadImage + outputAudio + outputImage === 0;
  return {
    promptTokenCount: prompt,
    ...(cacheRead > 0 && { cachedContentTokenCount: cacheRead }),
    candidatesTokenCount: candidates,
    ...(reasoning > 0 && { thoughtsTokenCount: reasoning }),
    totalTokenCount: prompt + output,
    ...(!isAllText && {
      promptTokensDetails: modalities(
        prompt,
        inputAudio + cacheReadAudio,
        inputImage + cacheReadImage,
      ),
      ...(cacheRead > 0 && {
        cacheTokensDetails: modalities(cacheRead, cacheReadAudio, cacheReadImage),
      }),
      candidatesTokensDetails: modalities(candidates, outputAudio, outputImage),
    }),
  };
}

function modalities(all: number, audio: number, images: number): JsonRecord[] {
  const counts = [
    ['TEXT', all - audio - images],
    ['IMAGE', images],
    ['AUDIO', audio],
  ] as const;
  return counts
    .filter(([, tokenCount]) => tokenCount > 0)
    .map(([modality, tokenCount]) => ({ modality, tokenCount }));
}
