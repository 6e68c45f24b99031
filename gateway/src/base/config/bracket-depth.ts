import { Lexer } from 'yaml';

/** As deep as a file of settings may be nested. */
const deepestBrackets = 64;

/**
 * Whether `[` and `{` stand deeper in one another than any file of settings needs. A parser that is given such a text
 * complains once per bracket, and takes seconds and gigabytes for some hundred kilobytes.
 */
export function isBracketedTooDeeply(text: string): boolean {
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === '[' || token === '{') depth += 1;
    else if (token === ']' || token === '}') depth -= 1;
    if (depth > deepestBrackets) return true;
  }
  return false;
}
