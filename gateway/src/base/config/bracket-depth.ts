import { Lexer } from 'yaml';

/** Maximum nesting depth of a configuration file. */
const deepestBrackets = 64;

/**
 * Whether `[` and `{` are nested deeper than any configuration file needs. The YAML parser reports one error per
 * bracket of such a text, and takes seconds and gigabytes for a few hundred kilobytes.
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
