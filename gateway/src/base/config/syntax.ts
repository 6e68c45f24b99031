import { type Document, type LineCounter, Lexer } from 'yaml';
import type { ConfigProblem } from './problem.ts';

/**
 * The errors of the YAML parser, one problem per line of the file. The parser's messages can quote the source, which
 * may hold a secret, so only their fixed part is kept.
 */
export function syntaxProblems(
  document: Document.Parsed,
  text: string,
  file: string | null,
  lines: LineCounter,
): ConfigProblem[] {
  const problems = new Map<number, ConfigProblem>();
  for (const error of [...document.errors, ...document.warnings]) {
    const { line } = lines.linePos(error.pos[0]);
    if (problems.has(line)) continue;
    problems.set(line, { file, line, path: '', expected: 'valid YAML', got: reason(error, text) });
    // The surrounding brackets stay open, so the parser would report every line below.
    if (isUnquotedPlaceholder(error, text)) break;
  }
  if (document.directives.yaml.version === '1.1') {
    problems.set(1, { file, line: 1, path: '', expected: 'YAML 1.2', got: 'YAML 1.1' });
  }
  return [...problems.values()].toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0)).slice(0, 20);
}

interface ParserError {
  readonly code: string;
  readonly message: string;
  readonly pos: [number, number];
}

function reason(error: ParserError, text: string): string {
  if (error.code === 'TAG_RESOLVE_FAILED') return 'an unknown tag';
  if (error.code === 'MULTIPLE_DOCS') return 'a second document';
  if (error.code === 'TAB_AS_INDENT') return 'a tab as indentation (use spaces)';
  if (isUnquotedPlaceholder(error, text)) {
    return 'an unquoted ${…} inside { } or [ ] (write it in double quotes)';
  }
  const shortMessage = error.message.replace(/[:(].*/s, '').trim();
  return shortMessage === ''
    ? 'an error'
    : shortMessage.charAt(0).toLowerCase() + shortMessage.slice(1);
}

function isUnquotedPlaceholder({ pos: [start] }: ParserError, text: string): boolean {
  return text[start] === '{' && text[start - 1] === '$';
}

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
