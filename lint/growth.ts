import { parseExpression, UnjudgedExpression } from './expression-tree.ts';
import { type Position, positionsOf } from './positions.ts';

/**
 * Why the time of a search may grow faster than its text, or null. A text of `n` characters can be read by an
 * expression that tries again (as V8's does) in more than so many ways when two loops take the same text one
 * after the other, or one loop takes it in two ways, and the end of the expression may still fail. The search for a
 * place to begin is the first of these loops: `/ +$/` takes the square of a line of spaces.
 */
export function growthOf(source: string, flags: string): string | null {
  try {
    const positions = positionsOf(parseExpression(source), flags);
    const loops = loopsOf(positions);
    if (positions.some((position) => isTwofold(position, loops))) {
      return 'a repetition inside of another one takes the same text in two ways';
    }
    return hasNeighbours(positions, loops)
      ? 'two repetitions, or a repetition and the search for its beginning, take the same text'
      : null;
  } catch (error) {
    if (error instanceof UnjudgedExpression) return `${error.message} cannot be judged`;
    throw error;
  }
}

/** The loop each position is in; nothing for those in none. */
type Loops = ReadonlyMap<Position, ReadonlySet<Position>>;

function loopsOf(positions: readonly Position[]): Loops {
  const ahead = new Map(positions.map((position) => [position, allAfter(position)]));
  const loops = new Map<Position, ReadonlySet<Position>>();
  for (const position of positions) {
    const after = ahead.get(position)!;
    if (!after.has(position)) continue;
    loops.set(
      position,
      new Set(Array.from(after).filter((next) => ahead.get(next)!.has(position))),
    );
  }
  return loops;
}

function allAfter(position: Position): ReadonlySet<Position> {
  const after = new Set(position.next);
  for (const next of after) for (const further of next.next) after.add(further);
  return after;
}

/** From a position back to it by two ways on the same text. */
function isTwofold(start: Position, loops: Loops): boolean {
  const loop = loops.get(start);
  if (loop === undefined || start.ends) return false;
  const inside = ({ next }: Position) => next.filter((position) => loop.has(position));
  if (new Set(inside(start)).size < inside(start).length) return true;
  const parted = walk(
    [[start, start]],
    ([one, other]) => pairs([inside(one!), inside(other!)]),
    ([one, other]) => one !== other,
  );
  return parted.some((pair) =>
    reaches(
      [pair],
      ([one, other]) => pairs([inside(one!), inside(other!)]),
      ([one, other]) => one === start && other === start,
    ),
  );
}

/** From one loop into a later one on a text that both take from where they are back to there. */
function hasNeighbours(positions: readonly Position[], loops: Loops): boolean {
  for (const late of positions) {
    const after = loops.get(late);
    if (after === undefined || late.ends) continue;
    for (const early of positions) {
      const before = loops.get(early);
      if (before === undefined || before === after || early === late || before.has(late)) continue;
      if (!allAfter(early).has(late)) continue;
      const found = reaches(
        [[early, early, late]],
        ([one, middle, other]) =>
          pairs([
            one!.next.filter((next) => before.has(next)),
            middle!.next,
            other!.next.filter((next) => after.has(next)),
          ]),
        ([one, middle, other]) => one === early && middle === late && other === late,
      );
      if (found) return true;
    }
  }
  return false;
}

type Places = readonly Position[];

/** One of each list, if all take some character in common. */
function pairs(lists: readonly (readonly Position[])[]): Places[] {
  let found: Places[] = [[]];
  for (const list of lists) {
    found = found.flatMap((places) => list.map((position) => [...places, position]));
  }
  return found.filter(takeTheSame);
}

function takeTheSame([first, ...others]: Places): boolean {
  for (const sample of first!.takes) {
    if (others.every(({ takes }) => takes.has(sample))) return true;
  }
  return false;
}

function reaches(
  starts: readonly Places[],
  step: (places: Places) => readonly Places[],
  isGoal: (places: Places) => boolean,
): boolean {
  return walk(starts, step, isGoal).length > 0;
}

/** All that can be come to, in one step at least, and is looked for. */
function walk(
  starts: readonly Places[],
  step: (places: Places) => readonly Places[],
  isGoal: (places: Places) => boolean,
): Places[] {
  const numbers = new Map<Position, number>();
  const seen = new Set<string>();
  const found: Places[] = [];
  let waiting = starts;
  while (waiting.length > 0) {
    const next: Places[] = [];
    for (const places of waiting) {
      for (const after of step(places)) {
        const name = after.map((position) => numberOf(position, numbers)).join();
        if (seen.has(name)) continue;
        seen.add(name);
        next.push(after);
        if (isGoal(after)) found.push(after);
      }
    }
    waiting = next;
  }
  return found;
}

function numberOf(position: Position, numbers: Map<Position, number>): number {
  const number = numbers.get(position) ?? numbers.size;
  numbers.set(position, number);
  return number;
}
