import { type Citation, type TokenLogprob, type TokenUsage, inputSum } from '#canonical/index.ts';
import { isRecord, type JsonRecord } from '../../../shared/values.ts';

/** What a response carries beside its text: citations, log probabilities, usage. */

/** Reads `annotations`. Kinds other than web citations have no meaning in other protocols. */
export function readCitations(annotations: unknown): Citation[] {
  if (!Array.isArray(annotations)) return [];
  return annotations.flatMap((annotation: unknown) => {
    const cited = isRecord(annotation) ? annotation['url_citation'] : null;
    if (!isRecord(cited) || typeof cited['url'] !== 'string') return [];
    const { url, title, start_index: start, end_index: end } = cited;
    return [
      {
        url,
        title: typeof title === 'string' ? title : null,
        start: typeof start === 'number' ? start : null,
        end: typeof end === 'number' ? end : null,
      },
    ];
  });
}

/** @param offset where the text of the citation's block begins in the whole content, in UTF-16 units. */
export function moved(citation: Citation, offset: number): Citation {
  const { start, end } = citation;
  if (offset === 0 || start === null || end === null) return citation;
  return { ...citation, start: Math.max(0, start + offset), end: Math.max(0, end + offset) };
}

/** The protocol requires all members. A citation without a place covers an empty range. */
export function writeCitation({ url, title, start, end }: Citation): JsonRecord {
  return {
    type: 'url_citation',
    url_citation: { start_index: start ?? 0, end_index: end ?? 0, title: title ?? '', url },
  };
}

/** Reads `logprobs` of a choice, whole or streamed. Undefined if it has none for text. */
export function readLogprobs(logprobs: unknown): TokenLogprob[] | undefined {
  if (!isRecord(logprobs) || !Array.isArray(logprobs['content'])) return undefined;
  const tokens = logprobs['content'].filter(isRecord);
  if (tokens.length === 0) return undefined;
  return tokens.map((token) => ({ ...readToken(token), top: readTop(token['top_logprobs']) }));
}

function readTop(top: unknown): TokenLogprob['top'] {
  return Array.isArray(top) ? top.filter(isRecord).map(readToken) : [];
}

function readToken({ token, logprob, bytes }: JsonRecord): Omit<TokenLogprob, 'top'> {
  return {
    token: typeof token === 'string' ? token : '',
    logprob: typeof logprob === 'number' ? logprob : 0,
    bytes: Array.isArray(bytes) ? (bytes as number[]) : null,
  };
}

export function writeLogprobs(tokens: readonly TokenLogprob[]): JsonRecord {
  return {
    content: tokens.map(({ token, logprob, bytes, top }) => ({
      token,
      logprob,
      bytes,
      top_logprobs: top,
    })),
    refusal: null,
  };
}

/** This protocol's counts include their parts. Those of images are written where there are any. */
export function writeUsage(usage: TokenUsage): JsonRecord {
  const { inputAudio = 0, cacheReadAudio = 0, inputImage = 0, cacheReadImage = 0 } = usage;
  const { outputAudio = 0, outputImage = 0 } = usage;
  const prompt = inputSum(usage);
  return {
    prompt_tokens: prompt,
    completion_tokens: usage.output,
    total_tokens: prompt + usage.output,
    prompt_tokens_details: {
      cached_tokens: usage.cacheRead,
      cache_write_tokens: usage.cacheWrite + usage.cacheWrite1h,
      audio_tokens: inputAudio + cacheReadAudio,
      ...imageTokens(inputImage + cacheReadImage),
      ...cachedDetails(cacheReadAudio, cacheReadImage),
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoning,
      audio_tokens: outputAudio,
      ...imageTokens(outputImage),
      accepted_prediction_tokens: 0,
      rejected_prediction_tokens: 0,
    },
  };
}

function imageTokens(count: number): JsonRecord {
  return count > 0 ? { image_tokens: count } : {};
}

function cachedDetails(audio: number, images: number): JsonRecord {
  if (audio + images === 0) return {};
  return { cached_tokens_details: { audio_tokens: audio, ...imageTokens(images) } };
}
