/** What a regular expression is made of, as far as the time it takes depends on it. */
export type Expression =
  /** One character of a set, as its source says. */
  | { readonly type: 'characters'; readonly source: string }
  | { readonly type: 'sequence'; readonly parts: readonly Expression[] }
  | { readonly type: 'choice'; readonly branches: readonly Expression[] }
  /** `most` is Infinity without a bound. */
  | {
      readonly type: 'repeat';
      readonly part: Expression;
      readonly least: number;
      readonly most: number;
    }
  /** `^` */
  | { readonly type: 'begin' }
  /** Takes no characters and may fail: `$`, `\b`, a look behind. */
  | { readonly type: 'guard' }
  | { readonly type: 'lookahead'; readonly part: Expression };

/** What the parser cannot judge. */
export class UnjudgedExpression extends Error {}

/**
 * Parses the source of a valid expression.
 * @throws UnjudgedExpression for back references, and for a look behind of no bounded length.
 */
export function parseExpression(source: string): Expression {
  let at = 0;

  function choice(): Expression {
    const branches = [sequence()];
    while (source[at] === '|') {
      at += 1;
      branches.push(sequence());
    }
    return branches.length === 1 ? branches[0]! : { type: 'choice', branches };
  }

  function sequence(): Expression {
    const parts: Expression[] = [];
    while (at < source.length && source[at] !== '|' && source[at] !== ')') {
      parts.push(quantified(atom()));
    }
    return { type: 'sequence', parts };
  }

  function quantified(part: Expression): Expression {
    const bounds = /^(?:([*+?])|\{(\d{1,9})(,?)(\d{0,9})\})\??/.exec(source.slice(at, at + 24));
    if (bounds === null) return part;
    at += bounds[0].length;
    const [, sign, least = '', comma, most = ''] = bounds;
    if (sign === '?') return { type: 'repeat', part, least: 0, most: 1 };
    if (sign !== undefined) {
      return { type: 'repeat', part, least: sign === '*' ? 0 : 1, most: Infinity };
    }
    const upper = comma === '' ? Number(least) : most === '' ? Infinity : Number(most);
    return { type: 'repeat', part, least: Number(least), most: upper };
  }

  function atom(): Expression {
    const character = source[at]!;
    if (character === '(') return group();
    if (character === '[') return characters(classEnd());
    if (character === '^' || character === '$') {
      at += 1;
      return { type: character === '^' ? 'begin' : 'guard' };
    }
    if (character !== '\\') return characters(at + (source.codePointAt(at)! > 0xffff ? 2 : 1));
    const escape = /^\\(?:u\{[0-9a-f]+\}|u[0-9a-f]{4}|x[0-9a-f]{2}|c[a-z]|p\{[^}]*\}|[^])/i;
    const written = escape.exec(source.slice(at, at + 64))![0];
    if (/^\\[1-9k]/.test(written)) throw new UnjudgedExpression('a back reference');
    if (written === '\\b' || written === '\\B') {
      at += 2;
      return { type: 'guard' };
    }
    return characters(at + written.length);
  }

  function group(): Expression {
    const opening = /^\((?:\?(?::|=|!|<=|<!|<\w+>))?/.exec(source.slice(at, at + 64))![0];
    at += opening.length;
    const part = choice();
    at += 1;
    if (opening === '(?=' || opening === '(?!') return { type: 'lookahead', part };
    if (opening !== '(?<=' && opening !== '(?<!') return part;
    if (!isBounded(part)) throw new UnjudgedExpression('a look behind of no bounded length');
    return { type: 'guard' };
  }

  function classEnd(): number {
    let end = at + 1;
    while (source[end] !== ']') end += source[end] === '\\' ? 2 : 1;
    return end + 1;
  }

  function characters(end: number): Expression {
    const found = source.slice(at, end);
    at = end;
    return { type: 'characters', source: found };
  }

  return choice();
}

function isBounded(expression: Expression): boolean {
  switch (expression.type) {
    case 'sequence':
      return expression.parts.every(isBounded);
    case 'choice':
      return expression.branches.every(isBounded);
    case 'repeat':
      return expression.most < Infinity && isBounded(expression.part);
    case 'lookahead':
      return isBounded(expression.part);
    default:
      return true;
  }
}
