import type { Protocol } from '../../protocol.ts';
import type { JsonRecord } from '../values.ts';

/** A request's members without reasoning state of its history, and how many of its carriers were left out. */
interface Stripped {
  readonly json: JsonRecord;
  readonly leftOut: number;
}

/**
 * A placeholder for a required signature that is not available; clients write it as well:
 * https://ai.google.dev/gemini-api/docs/thought-signatures.
 */
export const skipSignature = 'skip_thought_signature_validator';

/**
 * Leaves out the reasoning state of the history, oldest first: blocks and items that are nothing without it, else only the
 * member. What is not reasoning stays.
 * @param most this many carriers of state at most; later ones are the upstream's own
 */
export function withoutState(
  protocol: Pick<Protocol, 'leaveOutState'>,
  json: JsonRecord,
  most: number,
): Stripped {
  let leftOut = 0;
  const take = (): boolean => {
    if (leftOut === most) return false;
    leftOut += 1;
    return true;
  };
  const changedMembers = protocol.leaveOutState(json, take);
  return { json: { ...json, ...changedMembers }, leftOut };
}

/** Whether a text looks like an envelope around reasoning state, sealed for a client. It may still fail to open. */
export function isEnvelope(text: string): boolean {
  return text.startsWith('gw2.');
}
