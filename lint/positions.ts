import type { Expression } from './expression-tree.ts';

/** One place of an expression that takes a character. */
export interface Position {
  /** The samples it takes, by index. */
  readonly takes: ReadonlySet<number>;
  /** What may take the next character. An entry that stands twice can be come to in two ways. */
  readonly next: Position[];
  /** From here the expression can end with nothing more asked for, so that nothing is ever tried again. */
  ends: boolean;
}

/** Characters of every sort that an expression may tell apart. */
export const samples: readonly string[] = [
  ...Array.from({ length: 0x250 }, (_, code) => String.fromCodePoint(code)),
  '\u2003',
  '\u2028',
  '\u2029',
  '\u212a',
  '\u3000',
  '\u4e2d',
  '\ufeff',
  '\ufffd',
  '\ud800',
  '\udc00',
  '\u{1f600}',
];

const all: ReadonlySet<number> = new Set(samples.keys());
const lineEnds = new Set(['\n', '\r', '\u2028', '\u2029'].map((end) => samples.indexOf(end)));

/** A bounded repetition of more than this is taken for one without a bound. */
const mostCopies = 256;

interface Part {
  /** The positions that may take its first character. */
  readonly first: readonly Position[];
  /** Those that may have taken its last, and whether it was certain then that it would end. */
  readonly last: ReadonlyMap<Position, boolean>;
  /** It may take nothing; with `guarded` only where something else holds. */
  readonly empty: 'never' | 'guarded' | 'always';
}

const nothing: Part = { first: [], last: new Map(), empty: 'always' };

/** All that a search with an expression may stand at: the automaton of its positions (Glushkov's). */
export function positionsOf(expression: Expression, flags: string): readonly Position[] {
  const found: Position[] = [];
  const known = new Map<string, ReadonlySet<number>>();
  const create = (takes: ReadonlySet<number>): Position => {
    const position: Position = { takes, next: [], ends: false };
    found.push(position);
    return position;
  };

  function whole(passesBegin: boolean): readonly Position[] {
    const part = build(expression, passesBegin);
    for (const [position, isCertain] of part.last) if (isCertain) position.ends = true;
    return part.first;
  }

  function build(node: Expression, passesBegin: boolean): Part {
    switch (node.type) {
      case 'characters': {
        const position = create(takenBy(node.source, flags, known));
        return { first: [position], last: new Map([[position, true]]), empty: 'never' };
      }
      case 'begin':
        return passesBegin ? nothing : { first: [], last: new Map(), empty: 'never' };
      case 'guard':
        return { ...nothing, empty: 'guarded' };
      case 'lookahead': {
        const { first, last } = build(node.part, passesBegin);
        for (const [position, isCertain] of last) if (isCertain) position.ends = true;
        return { first, last: new Map(), empty: 'guarded' };
      }
      case 'sequence':
        return node.parts.reduce<Part>(
          (before, part) => inSequence(before, build(part, passesBegin)),
          nothing,
        );
      case 'choice':
        return inChoice(node.branches.map((branch) => build(branch, passesBegin)));
      case 'repeat':
        return repeated(node, () => build(node.part, passesBegin));
    }
  }

  const start = whole(true);
  // What lies before a later start.
  const line = create(new Set(Array.from(all).filter((sample) => !lineEnds.has(sample))));
  const lineEnd = create(lineEnds);
  const later = whole(false);
  line.next.push(line, lineEnd, ...later);
  lineEnd.next.push(line, lineEnd, ...(flags.includes('m') ? whole(true) : later));
  return reachable([...start, ...(flags.includes('y') ? [] : [line, lineEnd])]);
}

function inSequence(before: Part, after: Part): Part {
  for (const position of before.last.keys()) position.next.push(...after.first);
  const last = new Map(after.last);
  if (after.empty !== 'never') {
    for (const [position, isCertain] of before.last) {
      last.set(position, isCertain && after.empty === 'always');
    }
  }
  const first = before.empty === 'never' ? before.first : [...before.first, ...after.first];
  return { first, last, empty: both(before.empty, after.empty) };
}

function both(one: Part['empty'], other: Part['empty']): Part['empty'] {
  if (one === 'never' || other === 'never') return 'never';
  return one === 'guarded' || other === 'guarded' ? 'guarded' : 'always';
}

function inChoice(branches: readonly Part[]): Part {
  const empties = branches.map(({ empty }) => empty);
  const orders = ['always', 'guarded', 'never'] as const;
  return {
    first: branches.flatMap(({ first }) => first),
    last: new Map(branches.flatMap(({ last }) => Array.from(last))),
    empty: orders.find((empty) => empties.includes(empty)) ?? 'never',
  };
}

function repeated(
  { least, most }: Extract<Expression, { type: 'repeat' }>,
  copy: () => Part,
): Part {
  const isEndless = most > mostCopies;
  const copies = Math.min(isEndless ? Math.max(least, 1) : most, mostCopies);
  let result = nothing;
  for (let index = 0; index < copies; index += 1) {
    const part = copy();
    if (isEndless && index === copies - 1) {
      for (const position of part.last.keys()) position.next.push(...part.first);
    }
    result = inSequence(result, index < least ? part : { ...part, empty: 'always' });
  }
  return result;
}

function takenBy(
  source: string,
  flags: string,
  known: Map<string, ReadonlySet<number>>,
): ReadonlySet<number> {
  const before = known.get(source);
  if (before !== undefined) return before;
  // oxlint-disable-next-line sluice/linear-expression -- takes one character
  const expression = new RegExp(`^(?:${source})$`, flags.replaceAll(/[dgmy]/g, ''));
  const taken = new Set<number>();
  for (const [index, sample] of samples.entries()) if (expression.test(sample)) taken.add(index);
  known.set(source, taken);
  return taken;
}

function reachable(starts: readonly Position[]): readonly Position[] {
  const found = new Set(starts);
  for (const position of found) for (const next of position.next) found.add(next);
  return Array.from(found);
}
