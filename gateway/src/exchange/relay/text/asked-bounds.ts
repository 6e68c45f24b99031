import { affordableOutput, type Hold } from '#billing/index.ts';
import type { Route } from '#catalogue/index.ts';
import type { OutputCap } from '#protocols/index.ts';
import { traitsFor, type Vendor } from '#vendors/index.ts';
import { reachOf } from './bound-text.ts';
import type { TextInput } from './input.ts';
import { inputTokensOf, type CountedText } from './input-tokens.ts';
import type { AskedBounds, PreparedText } from './prepared.ts';

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

/** The cap for the request to one route; undefined: there is none. */
export function outputCapOf(
  { bounds, model }: Pick<PreparedText, 'bounds' | 'model'>,
  vendor: Vendor | undefined,
  { channel, upstreamModel }: Route,
): OutputCap | undefined {
  if (bounds.cap === null) return undefined;
  const { renamedMembers } = traitsFor(vendor, upstreamModel, channel.baseUrl);
  return {
    tokens: bounds.cap,
    usual: model.maxOutputTokens,
    chatMember: renamedMembers ? 'max_completion_tokens' : 'max_tokens',
  };
}
