import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface ExpansionContext {
  readonly environment: Environment;
  /** The base of relative `${file:…}` paths. */
  readonly workingDirectory: string;
}

export interface Expansion {
  readonly text: string;
  readonly expanded: boolean;
  /** Whether a placeholder was left open; `text` says nothing then. */
  readonly open: boolean;
  /** One entry per placeholder that could not be filled. */
  readonly failures: readonly { readonly expected: string; readonly got: string }[];
}

const placeholder = /\$\$\{|\$\{([^}]*)(\}?)/g;
const variable = /^([A-Za-z_][A-Za-z0-9_]*)(?::-([^]*))?$/;
const largestFile = 1024 * 1024;

/**
 * Fills `${NAME}`, `${NAME:-default}` and `${file:/path}` in one string. `$${` is a literal `${`. The default also
 * applies to a variable that is set but empty. One trailing newline of a file is dropped.
 * @param context null: placeholders stay open, and nothing is read for them
 */
export function expand(text: string, context: ExpansionContext | null): Expansion {
  if (!text.includes('${')) return { text, expanded: false, open: false, failures: [] };
  const failures: { expected: string; got: string }[] = [];
  let [expanded, open] = [false, false];
  const result = text.replace(placeholder, (match, body: string | undefined, close: string) => {
    if (match === '$${') return '${';
    if (body === undefined || close === '') {
      failures.push({ expected: '} after ${', got: 'the end of the string' });
      return '';
    }
    if (context === null) {
      open = true;
      return '';
    }
    expanded = true;
    if (body.startsWith('file:')) return fromFile(body.slice('file:'.length), context, failures);
    const [, name, fallback] = variable.exec(body) ?? [];
    if (name === undefined || fallback?.includes('${') === true) {
      failures.push({
        expected: '${NAME}, ${NAME:-default} or ${file:/path}',
        got: 'another placeholder (write $${ for a literal ${)',
      });
      return '';
    }
    const value = context.environment[name];
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) {
      failures.push({ expected: `the environment variable ${name} to be set`, got: 'nothing' });
      return '';
    }
    return value;
  });
  return { text: result, expanded, open, failures };
}

/** The variables and files that placeholders of a text name. */
export function variablesIn(text: string): readonly string[] {
  return [...text.matchAll(placeholder)].flatMap(([, body]) => {
    if (body === undefined) return [];
    return body.startsWith('file:') ? [body] : (variable.exec(body)?.[1] ?? []);
  });
}

function fromFile(
  path: string,
  context: ExpansionContext,
  failures: { expected: string; got: string }[],
): string {
  try {
    const bytes = readFileSync(resolve(context.workingDirectory, path));
    if (bytes.length > largestFile) {
      failures.push({ expected: `the file ${path} to hold at most 1MiB`, got: 'more' });
      return '';
    }
    return bytes.toString('utf8').replace(/\r?\n$/, '');
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'an error';
    failures.push({
      expected: `the file ${path || '(no path)'} to be readable`,
      got: code === 'ENOENT' ? 'no such file' : code,
    });
    return '';
  }
}
