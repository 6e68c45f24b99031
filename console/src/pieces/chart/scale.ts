/** The first of 1, 2, 4, 6, 8 or 10 times a power of ten that is not below: its quarters are short numbers. */
export function niceTop(most: number): number {
  if (!(most > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  const sizes = [1, 2, 4, 6, 8, 10].map((factor) => factor * power);
  return sizes.find((size) => size >= most) ?? 10 * power;
}

/** The values at both ends of a chart. */
export interface Scale {
  readonly from: number;
  readonly to: number;
}

/** From zero. @param least that it reaches at least */
export const scaleOf = (values: readonly number[], least = 0): Scale => ({
  from: 0,
  to: niceTop(Math.max(least, ...values)),
});

/** Of shares of 100 that are all near it, among which a scale from zero would show no difference. */
export const scaleBelow100 = (values: readonly number[]): Scale => ({
  from: 100 - niceTop(Math.max(1, ...values.map((value) => 100 - value))),
  to: 100,
});

/** The values of all lines, without gaps. */
export const pointsOf = (
  series: readonly { readonly values: readonly (number | null)[] }[],
): number[] => series.flatMap(({ values }) => values.filter((value) => value !== null));

/** `1.2`, `40`, `6k`: short enough for the edge of a chart. */
export function axisLabel(value: number): string {
  if (value >= 1e9) return `${short(value / 1e9)}G`;
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  if (value >= 1e4) return `${short(value / 1e3)}k`;
  return short(value);
}

const short = (value: number) => String(Number(value.toPrecision(4)));
