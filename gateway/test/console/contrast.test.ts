import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';

/* Contrast of the tokens as WCAG 2.2 computes it, in both themes. */

const css = readFileSync(
  new URL('../../../console/src/styles/tokens.css', import.meta.url),
  'utf8',
);
const pairs = new Map(
  [...css.matchAll(/--([\w-]+): light-dark\((#\w{6}), (#\w{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, { light, dark }] as const,
  ),
);

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const value = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].toSorted((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

const surfaces = ['ground', 'page', 'well', 'raised', 'selected'];
const texts = ['text-1', 'text-2', 'text-3', 'accent', 'ok', 'warning', 'failed', 'neutral'];

test('contrast is computed as WCAG says', () => {
  expect(contrast('#000000', '#ffffff')).toBe(21);
  expect(contrast('#777777', '#ffffff')).toBeCloseTo(4.48, 2);
});

describe.each(['light', 'dark'] as const)('%s', (theme) => {
  const colour = (name: string): string => {
    const pair = pairs.get(name);
    if (pair === undefined) throw new Error(`no token ${name}`);
    return pair[theme];
  };

  test.each(texts.flatMap((text) => surfaces.map((surface) => [text, surface] as const)))(
    '%s can be read on %s',
    (text, surface) => {
      expect(contrast(colour(text), colour(surface))).toBeGreaterThanOrEqual(4.5);
    },
  );

  test.each([
    ['text-on-accent', 'accent'],
    ['text-on-accent', 'accent-hover'],
    ['warning', 'warning-field'],
    ['failed', 'failed-field'],
  ])('%s can be read on %s', (text, surface) => {
    expect(contrast(colour(text), colour(surface))).toBeGreaterThanOrEqual(4.5);
  });

  test.each(['ground', 'page', 'raised'])('what can be pressed stands out on %s', (surface) => {
    expect(contrast(colour('control'), colour(surface))).toBeGreaterThanOrEqual(3);
  });
});
