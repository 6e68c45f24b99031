/** The first of 1, 2, 4, 6, 8 or 10 times a power of ten that is not below: its quarters are short numbers. */
export function niceTop(most: number): number {
  if (!(most > 0)) return 0;
  const power = 10 ** Math.floor(Math.log10(most));
  const sizes = [1, 2, 4, 6, 8, 10].map((factor) => factor * power);
  return sizes.find((size) => size >= most) ?? 10 * power;
}

/** `1.2`, `40`, `6k`: short enough for the edge of a chart. */
export function axisLabel(value: number): string {
  if (value >= 1e9) return `${short(value / 1e9)}G`;
  if (value >= 1e6) return `${short(value / 1e6)}M`;
  if (value >= 1e4) return `${short(value / 1e3)}k`;
  return short(value);
}

const short = (value: number) => String(Number(value.toPrecision(3)));
