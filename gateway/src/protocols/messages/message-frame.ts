import type { AnswerContext } from '../codec.ts';

/** What is known of an answer before its content. Its ids come from the exchange's own, so that a replay repeats them. */
export function messageHead({ requestId, model }: AnswerContext) {
  return { id: `msg_${stem(requestId)}`, type: 'message', role: 'assistant', model } as const;
}

/** For a call that came without one. */
export function callId({ requestId }: AnswerContext, call: number): string {
  return `toolu_${stem(requestId)}_${call}`;
}

const stem = (requestId: string): string => requestId.replace(/^req_/, '');
