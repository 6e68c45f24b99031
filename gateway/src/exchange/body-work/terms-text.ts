import type { ResponseTerms } from '#conversion/index.ts';
import { parseExact } from '#protocols/index.ts';
import type { TermsText } from './jobs.ts';

/** The terms for reading a response, in the form for another thread. */
export function textOfTerms({ answer, ...terms }: ResponseTerms): TermsText {
  const { request, ...rest } = answer;
  return { ...terms, answer: rest, request: JSON.stringify(request) };
}

export function termsOf({ answer, request, ...terms }: TermsText): ResponseTerms {
  return { ...terms, answer: { ...answer, request: parseExact(request) } } as ResponseTerms;
}
