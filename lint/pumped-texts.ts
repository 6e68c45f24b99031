import { parseExpression } from './expression-tree.ts';
import { type Position, positionsOf, samples } from './positions.ts';

/**
 * Texts of about a length on which an expression has much to do: what leads to each of its places, what leads from there
 * back to it, again and again, and an end that it does not take.
 */
export function pumpedTexts({ source, flags }: RegExp): readonly ((length: number) => string)[] {
  const positions = positionsOf(parseExpression(source), `${flags}y`);
  const ways = waysFrom(positions.filter((position) => isFirst(position, positions)));
  const pumps = new Set<string>();
  for (const [position, lead] of ways) {
    const back = waysFrom(position.next).get(position);
    pumps.add(JSON.stringify([lead, back ?? lead]));
    pumps.add(JSON.stringify(['', lead + (back ?? '').repeat(3)]));
  }
  return Array.from(pumps, (pump) => {
    const [lead, piece] = JSON.parse(pump) as [string, string];
    return (length) => `${lead}${piece.repeat(Math.ceil(length / piece.length))}\u0001`;
  });
}

/** With nothing before it: of a sticky expression there are no other starts. */
function isFirst(position: Position, positions: readonly Position[]): boolean {
  return position === positions[0] || !positions.some(({ next }) => next.includes(position));
}

/** A shortest text to each position, the character it takes included. */
function waysFrom(starts: readonly Position[]): ReadonlyMap<Position, string> {
  const ways = new Map<Position, string>();
  for (const position of starts) ways.set(position, characterOf(position));
  for (const [position, way] of ways) {
    for (const next of position.next) {
      if (!ways.has(next)) ways.set(next, way + characterOf(next));
    }
  }
  return ways;
}

/** A letter or digit where one is taken, as these are most often taken elsewhere, too. */
function characterOf({ takes }: Position): string {
  for (const wanted of 'a0.') if (takes.has(samples.indexOf(wanted))) return wanted;
  return samples[Array.from(takes).find((index) => index >= 0x20) ?? Math.min(...takes)] ?? 'a';
}
