/** The candidate that was probably meant; null if none is close. */
export function nearest(name: string, candidates: Iterable<string>): string | null {
  let best: string | null = null;
  let bestDistance = Math.max(1, Math.min(3, Math.floor(name.length / 3))) + 1;
  const wantedName = simplify(name);
  for (const candidate of candidates) {
    const limit = bestDistance;
    if (Math.abs(candidate.length - name.length) > limit) continue;
    const distance = editDistance(wantedName, simplify(candidate), limit);
    if (distance < bestDistance) {
      best = candidate;
      bestDistance = distance;
    }
  }
  return best;
}

/** ` (did you mean "port"?)`, or nothing. */
export function didYouMean(name: string, candidates: Iterable<string>): string {
  if (name.length > 100) return '';
  const near = nearest(name, candidates);
  return near === null ? '' : ` (did you mean ${JSON.stringify(near)}?)`;
}

/** `bodyLimit`, `body-limit` and `body_limit` are the same word to a person. */
function simplify(name: string): string {
  return name.toLowerCase().replaceAll(/[-_ ]/g, '');
}

/** Levenshtein distance with a swap of neighbours as one step. Distances above `limit` are upper bounds. */
function editDistance(left: string, right: string, limit: number): number {
  if (Math.abs(left.length - right.length) > limit) return limit + 1;
  let beforePrevious: number[] = [];
  let previous = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (let row = 1; row <= left.length; row += 1) {
    const current = [row];
    for (let column = 1; column <= right.length; column += 1) {
      const same = left[row - 1] === right[column - 1];
      let cost = Math.min(
        at(previous, column) + 1,
        at(current, column - 1) + 1,
        at(previous, column - 1) + (same ? 0 : 1),
      );
      const isSwap = left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      if (row > 1 && column > 1 && isSwap) {
        cost = Math.min(cost, at(beforePrevious, column - 2) + 1);
      }
      current.push(cost);
    }
    if (Math.min(...current) > limit) return limit + 1;
    beforePrevious = previous;
    previous = current;
  }
  return at(previous, right.length);
}

function at(row: readonly number[], index: number): number {
  return row[index] ?? Number.POSITIVE_INFINITY;
}
