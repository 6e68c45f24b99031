import type { ResponseContext } from '../../../codec.ts';

/**
 * The members of a message before its content. Ids derive from the exchange's id, so that a replay repeats them. Members
 * that only the protocol's vendor fills are null, because its types require them.
 */
export function messageHead({ requestId, model }: ResponseContext) {
  return {
    id: `msg_${stem(requestId)}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    diagnostics: null,
  } as const;
}

/** The caller of every call: the model itself, rather than a program that it wrote. */
export const directCaller = Object.freeze({ type: 'direct' });

/** The id for a call that came without one. */
export function callId({ requestId }: ResponseContext, call: number): string {
  return `toolu_${stem(requestId)}_${call}`;
}

const stem = (requestId: string): string => requestId.replace(/^req_/, '');
