import type { ReportedUsage } from '#canonical/index.ts';
import { keyBytes } from '#json/index.ts';
import { echoModel } from '../../shared/text/echo.ts';
import { type ModelEcho, UnreadableResponse, type WireResponse } from '../../protocol.ts';
import { parseResponse, readEndings } from '../../shared/text/parse-bodies.ts';
import { isRecord, type JsonRecord, recordAt, recordsIn } from '../../shared/values.ts';
import { withApart } from '../../shared/usage/inclusive-usage.ts';
import { termIn, withSurcharges } from '../../shared/usage/terms.ts';
import { withUnread } from '../../shared/usage/unread-usage.ts';
import { metadataMembers } from '../../shared/usage/usage-members.ts';
import {
  readCount,
  readMembers,
  reportOf,
  type UsageSide,
} from '../../shared/usage/usage-numbers.ts';

const modelPath = [keyBytes('modelVersion')];

/** Accepts candidates, a blocked prompt, or a token count, which has no usage. @throws UnreadableResponse */
export function readResponse(body: Buffer, echo: ModelEcho): WireResponse {
  const response = parseResponse(body, usageOf);
  if (Array.isArray(response['candidates']) || isRecord(response['promptFeedback'])) {
    const reportedUsage = readUsage(response['usageMetadata'], searchesIn(response));
    const reasons = recordsIn(response['candidates']).map(({ finishReason }) => finishReason);
    const usage = readEndings('generate-content', reasons, response, reportedUsage);
    return { body: echoModel(body, modelPath, echo), usage };
  }
  if (typeof response['totalTokens'] === 'number') return { body, usage: null };
  throw new UnreadableResponse(
    'the response has neither candidates nor a block reason',
    response,
    usageOf(response),
  );
}

function usageOf(response: JsonRecord): ReportedUsage | null {
  return readUsage(response['usageMetadata']);
}

/**
 * `promptTokenCount` includes cached tokens and excludes tool results. `candidatesTokenCount` excludes reasoning. If one
 * of the two is missing, it is the rest of the total. A cache larger than the prompt lies outside it. Details by
 * modality divide each count; reasoning is text.
 */
export function readUsage(usage: unknown, webSearches = 0): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const reading = readMembers(usage, metadataMembers);
  const { counts, input, output, total } = reading;
  const { cacheRead = 0, toolPrompt = 0, reasoning = 0 } = counts;
  const ofPrompt = readModalities(usage['promptTokensDetails'], input);
  const ofTools = readModalities(usage['toolUsePromptTokensDetails'], input);
  const ofCache = readModalities(usage['cacheTokensDetails'], input);
  const ofOutput = readModalities(usage['candidatesTokensDetails'], output);
  const beyond = (rest: number): number =>
    Math.max(0, (counts.total ?? 0) - rest - toolPrompt - reasoning);
  const prompt = counts.prompt ?? beyond(counts.output ?? 0);
  const candidates = counts.output ?? beyond(prompt);
  const sums = {
    input: (cacheRead <= prompt ? prompt - cacheRead : prompt) + toolPrompt,
    cacheRead,
    cacheWrite: 0,
    cacheWrite1h: 0,
    output: candidates + reasoning,
    reasoning,
  };
  const outputImage = Math.min(ofOutput.image, candidates);
  const tokens = withApart(sums, {
    inputAudio: ofPrompt.audio + ofTools.audio,
    inputImage: ofPrompt.image + ofTools.image,
    cacheReadAudio: ofCache.audio,
    cacheReadImage: ofCache.image,
    outputAudio: Math.min(ofOutput.audio, candidates - outputImage),
    outputImage,
  });
  const reportedUsage = reportOf(tokens, reading, {
    input: counts.prompt !== undefined || tokens.input + cacheRead > 0,
    // A total without room for output may be from the beginning of a stream.
    output: counts.output !== undefined || (total.some && tokens.output > 0),
  });
  const tier = termIn(usage, 'service_tier', 'serviceTier');
  return withUnread(withSurcharges(reportedUsage, [tier], webSearches), reading.unknown);
}

/** The tokens of a list of details that are priced apart. Video and documents cost what text costs. */
function readModalities(details: unknown, side: UsageSide) {
  let [audio, image] = [0, 0];
  for (const { modality, tokenCount } of recordsIn(details)) {
    const name = String(modality).toUpperCase();
    if (name === 'AUDIO') audio += readCount(tokenCount, side) ?? 0;
    else if (name === 'IMAGE') image += readCount(tokenCount, side) ?? 0;
  }
  return { audio, image };
}

/** The number of searches behind a response, over all candidates. */
export function searchesIn(response: JsonRecord): number {
  let count = 0;
  for (const candidate of recordsIn(response['candidates'])) {
    const queries = recordAt(candidate, 'groundingMetadata')['webSearchQueries'];
    if (!Array.isArray(queries)) continue;
    count += queries.filter((query) => typeof query === 'string' && query !== '').length;
  }
  return count;
}
