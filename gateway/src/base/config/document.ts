import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar as YamlScalar,
  type YAMLMap,
} from 'yaml';
import { isBracketedTooDeeply, syntaxProblems } from './syntax.ts';
import { expand, type ExpansionContext } from './expand.ts';
import { type ConfigProblem, formatPath, type Path } from './problem.ts';
import { quote, type RawMapping, type RawValue, Scalar } from './scalar.ts';

export interface ConfigDocument {
  readonly root: RawMapping;
  /** The line of a value; for a missing value, the line of the nearest mapping around it. */
  readonly lineOf: (path: Path) => number | null;
  /** Where a placeholder was left open: there `root` has nothing. */
  readonly open: readonly Path[];
  /** Syntax errors, duplicate keys and placeholders that could not be filled. */
  readonly problems: readonly ConfigProblem[];
  /** False after a syntax error: `root` is then empty and not worth checking. */
  readonly readable: boolean;
}

const deepest = 32;
/** Aliases may repeat blocks, but must not expand a small file into a huge one. */
const mostThroughAliases = 10_000;

/**
 * Reads YAML or JSON text into scalars, lists and mappings that know their lines. Never throws.
 * @param context null: placeholders stay open, and neither a variable nor a file is read
 */
export function readDocument(
  text: string,
  file: string | null,
  context: ExpansionContext | null,
): ConfigDocument {
  const lines = new LineCounter();
  const { problems, document } = parse(text, file, lines);
  const knownKeys = new Map<string, number>();
  const lineOf = (path: Path) => {
    for (let length = path.length; length >= 0; length -= 1) {
      const line = knownKeys.get(JSON.stringify(path.slice(0, length)));
      if (line !== undefined) return line;
    }
    return 1;
  };
  if (document === null || problems.length > 0) {
    return { root: emptyMapping(), lineOf, open: [], problems, readable: false };
  }
  const walker = new Walker(file, lines, knownKeys, context);
  const root = document.contents === null ? emptyMapping() : walker.read(document.contents, []);
  const { open } = walker;
  if (root instanceof Scalar && root.value === null) {
    return { root: emptyMapping(), lineOf, open, problems: walker.problems, readable: true };
  }
  if (root === undefined || root instanceof Scalar || Array.isArray(root)) {
    walker.report(
      [],
      1,
      'a mapping of settings',
      Array.isArray(root) ? 'a list' : 'a single value',
    );
    return { root: emptyMapping(), lineOf, open, problems: walker.problems, readable: false };
  }
  return { root: root as RawMapping, lineOf, open, problems: walker.problems, readable: true };
}

function parse(text: string, file: string | null, lines: LineCounter) {
  if (isBracketedTooDeeply(text)) {
    const got = 'something nested too deeply';
    const problem = { file, line: 1, path: '', expected: `at most ${deepest} levels`, got };
    return { document: null, problems: [problem] };
  }
  try {
    const document = parseDocument(text, {
      lineCounter: lines,
      prettyErrors: false,
      uniqueKeys: false,
      merge: false,
      // 'silent' would also suppress the error about a second document.
      logLevel: 'error',
    });
    return { document, problems: syntaxProblems(document, text, file, lines) };
  } catch {
    // The parser recurses, and blocks can be nested without brackets.
    const got = 'something that cannot be read, probably nested too deeply';
    return {
      document: null,
      problems: [{ file, line: 1, path: '', expected: 'valid YAML', got }],
    };
  }
}

function emptyMapping(): RawMapping {
  return Object.create(null) as RawMapping;
}

class Walker {
  readonly problems: ConfigProblem[] = [];
  readonly open: Path[] = [];
  readonly #file: string | null;
  readonly #lines: LineCounter;
  readonly #knownLines: Map<string, number>;
  readonly #context: ExpansionContext | null;
  readonly #anchors = new Map<string, Node>();
  #throughAliases = 0;
  #aliasDepth = 0;

  constructor(
    file: string | null,
    lines: LineCounter,
    knownKeys: Map<string, number>,
    context: ExpansionContext | null,
  ) {
    this.#file = file;
    this.#lines = lines;
    this.#knownLines = knownKeys;
    this.#context = context;
  }

  report(path: Path, line: number, expected: string, got: string): Scalar {
    this.problems.push({ file: this.#file, line, path: formatPath(path), expected, got });
    return new Scalar(null, '', { broken: true });
  }

  read(node: Node, path: Path, keyLine?: number): RawValue {
    const line =
      isScalar(node) && node.source !== '' ? this.#lineOf(node) : (keyLine ?? this.#lineOf(node));
    this.#knownLines.set(JSON.stringify(path), line);
    if (path.length > deepest) {
      return this.report(path.slice(0, 4), line, `at most ${deepest} levels`, 'more');
    }
    if (this.#aliasDepth > 0) this.#throughAliases += 1;
    if (this.#throughAliases > mostThroughAliases) {
      // Reported once: all further problems come from the same alias bomb.
      if (this.#throughAliases > mostThroughAliases + 1)
        return new Scalar(null, '', { broken: true });
      return this.report(
        path,
        line,
        `at most ${mostThroughAliases} values through aliases`,
        'more',
      );
    }
    if (isAlias(node)) return this.#follow(node.source, path, line);
    if (node.anchor !== undefined) this.#anchors.set(node.anchor, node);
    if (isSeq(node))
      return node.items.map((item, index) => this.read(item as Node, [...path, index]));
    if (isMap(node)) return this.#mapping(node, path);
    return this.#scalar(node, path, line);
  }

  #follow(name: string, path: Path, line: number): RawValue {
    const target = this.#anchors.get(name);
    if (target === undefined) {
      return this.report(path, line, `the anchor &${name} earlier in the file`, 'none');
    }
    this.#aliasDepth += 1;
    const value = this.read(target, path, line);
    this.#aliasDepth -= 1;
    return value;
  }

  #mapping(node: YAMLMap, path: Path): RawMapping {
    const mapping = Object.create(null) as Record<string, RawValue>;
    const keyLines = new Map<string, number>();
    for (const pair of node.items as Pair<Node, Node | null>[]) {
      const line = this.#lineOf(pair.key);
      if (!isScalar(pair.key)) {
        this.report(path, line, 'plain words as keys', 'a list, a mapping or an alias');
        continue;
      }
      const key = typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? '');
      const first = keyLines.get(key);
      if (first !== undefined) {
        this.report([...path, key], line, 'each key once', `a duplicate (first on line ${first})`);
        continue;
      }
      if (key === '' || key === '__proto__') {
        this.report(path, line, 'a named key', quote(key));
        continue;
      }
      keyLines.set(key, line);
      mapping[key] =
        pair.value === null
          ? this.#missing([...path, key], line)
          : this.read(pair.value, [...path, key], line);
    }
    return mapping;
  }

  #missing(path: Path, line: number): Scalar {
    this.#knownLines.set(JSON.stringify(path), line);
    return new Scalar(null, '');
  }

  #scalar(node: YamlScalar, path: Path, line: number): Scalar {
    const { value } = node;
    const source = node.source ?? '';
    if (typeof value !== 'string') {
      if (value === null || typeof value === 'boolean' || typeof value === 'number')
        return new Scalar(value, source);
      return this.report(
        path,
        line,
        'a string, a number, true, false or null',
        'another kind of value',
      );
    }
    const { text, expanded, open, failures } = expand(value, this.#context);
    if (open) this.open.push(path);
    for (const { expected, got } of failures) this.report(path, line, expected, got);
    return new Scalar(open ? null : text, source, { expanded, broken: failures.length > 0 });
  }

  #lineOf(node: Node | null): number {
    const offset = node?.range?.[0];
    return offset === undefined ? 1 : this.#lines.linePos(offset).line;
  }
}
