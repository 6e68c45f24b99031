/** Every run and every combination: `npm run test:long` and others set the variable. */
export const isLong = process.env['SLUICE_LONG'] !== undefined;

/** How often something is tried: enough to notice a mistake in every run, and all of it in a long one. */
export const runs = (quick: number, all: number): number => (isLong ? all : quick);

/** The values that the case at an index is tried with: all of them in a long run, otherwise one, in turn. */
export const inTurn = <Value>(index: number, values: readonly Value[]): readonly Value[] =>
  isLong ? values : [values[index % values.length]!];
