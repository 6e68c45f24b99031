import {
  affordableOutput,
  type Hold,
  type Line,
  type PriceRates,
  type Reach,
  textBound,
} from '#billing/index.ts';
import { familyOf } from '#estimation/index.ts';
import type { OutputCap, WireRequest } from '#protocols/index.ts';
import type { UpstreamTraits } from '#vendors/index.ts';
import { namedRoutes } from '../exchange/find-model.ts';
import type { TextInput } from './input.ts';
import {
  type AskedBounds,
  type CheckedText,
  type CountedText,
  inputTokensOf,
  type PreparedText,
} from './prepared.ts';

/** A response that is cut shorter is of no use. In tokens. */
const leastOutput = 256;
/** Tokens that an upstream adds to what it is sent: its own instructions, and the form of the messages. */
const addedInput = 4_096;

/**
 * Bounds of what a request can use. If it holds all that was left, its output limit is lowered to what that pays for
 * beside the estimated input, unless that is not worth an answer.
 * @param mayCap the operator and the key allow it
 */
export function askedBoundsOf(
  hold: Hold | null,
  { body }: Pick<TextInput, 'body'>,
  asked: CountedText & Pick<PreparedText, 'terms'>,
  mayCap: boolean,
): AskedBounds {
  const { images, unseen, hostedTools } = asked.request.extent;
  const isTextAlone = images === 0 && !unseen && !hostedTools;
  const mostInput = isTextAlone ? body.length + addedInput : Infinity;
  return { cap: mayCap && hold?.isShort === true ? capOf(hold, asked) : null, mostInput };
}

function capOf(hold: Hold, asked: CountedText & Pick<PreparedText, 'terms'>): number | null {
  const { request, terms } = asked;
  const tokens = affordableOutput(hold, inputTokensOf(asked), {
    choices: request.choices,
    terms,
    reach: reachOf(request),
  });
  return tokens === null || tokens < leastOutput ? null : tokens;
}

/** The cap for the request to one upstream; undefined: there is none. */
export function outputCapOf(
  { bounds, model }: Pick<PreparedText, 'bounds' | 'model'>,
  { renamedMembers }: UpstreamTraits,
): OutputCap | undefined {
  if (bounds.cap === null) return undefined;
  return {
    tokens: bounds.cap,
    usual: model.maxOutputTokens,
    chatMember: renamedMembers ? 'max_completion_tokens' : 'max_tokens',
  };
}

/** The most that a text request can use, for its hold. */
export function boundText(
  input: TextInput,
  checked: CheckedText,
  rates: PriceRates,
): readonly Line<bigint>[] {
  const { request, resolved, terms } = checked;
  const { maxOutputTokens, choices, webSearches, extent } = request;
  return textBound(rates, resolved.model, {
    bodyBytes: input.body.length,
    outputLimit: maxOutputTokens,
    choices,
    terms,
    ...(webSearches !== undefined && { webSearches }),
    extent: { ...extent, imageTokens: mostImageTokens(input, checked) },
    reach: reachOf(request),
  });
}

/** The kinds of tokens that a request can be charged for. What is not seen of its input may be anything. */
export function reachOf({
  extent,
  outputKinds,
}: Pick<WireRequest, 'extent' | 'outputKinds'>): Reach {
  const { images, unseen, hostedTools } = extent;
  return {
    inputImage: images > 0 || unseen || hostedTools,
    inputAudio: unseen,
    outputImage: outputKinds?.image ?? true,
    outputAudio: outputKinds?.audio ?? true,
  };
}

/**
 * The most tokens that one image takes at any model that may serve the request, by the models' names at the upstreams.
 */
function mostImageTokens(input: TextInput, { request, resolved }: CheckedText): number {
  if (request.extent.images === 0) return 0;
  const { protocol } = input;
  const names = new Set(namedRoutes(input, resolved).map(({ upstreamModel }) => upstreamModel));
  if (names.size === 0) names.add(resolved.model.id);
  return Math.max(...names.values().map((name) => familyOf({ model: name, protocol }).image.most));
}
