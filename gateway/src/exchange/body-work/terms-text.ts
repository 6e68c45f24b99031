import type { ResponseTerms } from '#conversion/index.ts';
import { parseExact } from '#protocols/index.ts';
import type { TermsText } from './jobs.ts';

/** The terms for reading a response, in the form for another thread. */
export function textOfTerms({ context, ...terms }: ResponseTerms): TermsText {
  const { request, ...rest } = context;
  return { ...terms, context: rest, request: JSON.stringify(request) };
}

export function termsOf({ context, request, ...terms }: TermsText): ResponseTerms {
  return { ...terms, context: { ...context, request: parseExact(request) } } as ResponseTerms;
}
