import type { ReportedUsage, TokenUsage } from '#canonical/index.ts';
import { withApart, type ReportedApart } from './apart-tokens.ts';
import { termOf } from './asked-terms.ts';
import { searchesInUsage, withSurcharges } from './reported-surcharges.ts';
import { recordsIn } from './input-extent.ts';
import { isRecord, recordAt, type JsonRecord } from './values.ts';
import { withUnread } from './unread-usage.ts';
import { inclusiveMembers } from './usage-members.ts';
import { inUsualNames } from './usage-names.ts';
import { disjointTokens, inputSum, reportOf, unnamedTokens, UsageCounts } from './usage-numbers.ts';

/**
 * Reads usage as chat and responses report it (`prompt_tokens` or `input_tokens`), with the places where compatible
 * servers put their cache counters. A side that is missing is the rest of the total, if there is one. Null if no side is
 * reported.
 * @param serviceTier as the response names it, beside its usage
 * @param webSearches searches that the response shows; its usage may count more
 * @param pictureTokens of the provider's picture tool, which the usage does not include
 */
export function readInclusiveUsage(
  reported: unknown,
  serviceTier?: unknown,
  webSearches = 0,
  pictureTokens = 0,
): ReportedUsage | null {
  if (!isRecord(reported)) return null;
  const usage = inUsualNames(reported);
  const input = new UsageCounts();
  const output = new UsageCounts();
  const all = new UsageCounts();
  const inputDetails = recordAt(usage, 'prompt_tokens_details');
  const moreInputDetails = recordAt(usage, 'input_tokens_details');
  const outputDetails = recordAt(usage, 'completion_tokens_details');
  const moreOutputDetails = recordAt(usage, 'output_tokens_details');
  const cached = recordAt(inputDetails, 'cached_tokens_details');
  const moreCached = recordAt(moreInputDetails, 'cached_tokens_details');
  const total = all.read(usage['total_tokens']);
  const prompt = input.readAny(usage['prompt_tokens'], usage['input_tokens']);
  const hasPrompt = input.some;
  const completion = output.readAny(usage['completion_tokens'], usage['output_tokens']);
  const hasOutput = output.some;
  const counts = {
    prompt: hasPrompt || !hasOutput ? prompt : Math.max(0, total - completion),
    cacheRead: input.readAny(
      inputDetails['cached_tokens'],
      moreInputDetails['cached_tokens'],
      usage['prompt_cache_hit_tokens'],
      usage['cache_read_input_tokens'],
      usage['cached_tokens'],
      usage['num_cached_tokens'],
    ),
    cacheWrite: input.readAny(
      inputDetails['cache_write_tokens'],
      inputDetails['cache_creation_tokens'],
      inputDetails['cache_creation_input_tokens'],
      moreInputDetails['cache_write_tokens'],
      moreInputDetails['cache_creation_tokens'],
      moreInputDetails['cache_creation_input_tokens'],
      usage['cache_creation_input_tokens'],
      recordAt(sessionDetails(usage), 'cache_creation')['ephemeral_5m_input_tokens'],
    ),
    cacheWriteLong: input.readAny(
      recordAt(inputDetails, 'cache_write_tokens_details')['ttl_12h_tokens'],
      recordAt(moreInputDetails, 'cache_write_tokens_details')['ttl_12h_tokens'],
      ...[inputDetails, moreInputDetails, usage].flatMap(longWrites),
    ),
    output: hasOutput || !hasPrompt ? completion : Math.max(0, total - prompt),
    reasoning: output.readAny(
      outputDetails['reasoning_tokens'],
      moreOutputDetails['reasoning_tokens'],
      usage['reasoning_tokens'],
    ),
    total,
  };
  const { implausible } = all;
  const isTotalled = (hasPrompt || hasOutput) && total > 0;
  const apart = {
    inputAudio: input.readAny(inputDetails['audio_tokens'], moreInputDetails['audio_tokens']),
    inputImage: input.readAny(inputDetails['image_tokens'], moreInputDetails['image_tokens']),
    cacheReadAudio: input.readAny(
      cached['audio_tokens'],
      moreCached['audio_tokens'],
      inputDetails['cached_audio_tokens'],
      moreInputDetails['cached_audio_tokens'],
    ),
    cacheReadImage: input.readAny(
      cached['image_tokens'],
      moreCached['image_tokens'],
      inputDetails['cached_image_tokens'],
      moreInputDetails['cached_image_tokens'],
    ),
    outputAudio: output.readAny(outputDetails['audio_tokens'], moreOutputDetails['audio_tokens']),
    outputImage: output.readAny(outputDetails['image_tokens'], moreOutputDetails['image_tokens']),
  };
  const report = reportOf(
    withApart(withBeside(disjointTokens(counts), apart), apart),
    {
      implausible: implausible || input.implausible,
      isOdd: input.isOdd,
      isTold: hasPrompt || isTotalled,
    },
    {
      implausible: implausible || output.implausible,
      isOdd: output.isOdd,
      isTold: hasOutput || isTotalled,
    },
  );
  const unnamed = hasPrompt && hasOutput ? unnamedTokens(counts) : 0;
  const searches = Math.max(webSearches, searchesInUsage(usage));
  const told = withSurcharges(
    report === null || unnamed === 0 ? report : { ...report, unnamed },
    [termOf('service_tier', serviceTier)],
    searches,
    pictureTokens,
  );
  return withUnread(told, usage, inclusiveMembers);
}

/** Of cache writes for an hour, as servers that translate messages name them. */
function longWrites(details: JsonRecord): unknown[] {
  return ['cache_creation', 'cache_creation_token_details'].map(
    (name) => recordAt(details, name)['ephemeral_1h_input_tokens'],
  );
}

/** Model Studio's responses have the writes of a session only in a list that repeats the usage by how it is billed. */
function sessionDetails(usage: JsonRecord): JsonRecord {
  const [first] = recordsIn(usage['x_details']);
  return first === undefined ? {} : recordAt(first, 'prompt_tokens_details');
}

/** Audio and pictures that are more than the sum lie beside it: servers differ in what their sums include. */
function withBeside(
  tokens: TokenUsage,
  { inputAudio, inputImage, outputAudio, outputImage }: ReportedApart,
): TokenUsage {
  const given = inputAudio + inputImage;
  const made = outputAudio + outputImage;
  const isGivenBeside = given > inputSum(tokens);
  const isMadeBeside = made > tokens.output;
  if (!isGivenBeside && !isMadeBeside) return tokens;
  return {
    ...tokens,
    input: tokens.input + (isGivenBeside ? given : 0),
    output: tokens.output + (isMadeBeside ? made : 0),
  };
}
