import type { AnswerContext } from '../../../codec.ts';

/**
 * What is known of an answer before its content. Its ids come from the exchange's own, so that a replay repeats them.
 * Members that only the protocol's own vendor fills are null, as its types have no answer without them.
 */
export function messageHead({ requestId, model }: AnswerContext) {
  return {
    id: `msg_${stem(requestId)}`,
    type: 'message',
    role: 'assistant',
    model,
    container: null,
    diagnostics: null,
  } as const;
}

/** Of every call: the model made it, rather than a program that it wrote. */
export const directCaller = Object.freeze({ type: 'direct' });

/** For a call that came without one. */
export function callId({ requestId }: AnswerContext, call: number): string {
  return `toolu_${stem(requestId)}_${call}`;
}

const stem = (requestId: string): string => requestId.replace(/^req_/, '');
