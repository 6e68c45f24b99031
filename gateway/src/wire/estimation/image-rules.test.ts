import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { byArea, byCrops, byPatches, byTiles, type ImageRule } from './image-rules.ts';

const at = (rule: ImageRule, width: number, height: number, detail?: string) =>
  rule.of({ width, height }, detail);

describe('what providers charge for images', () => {
  it('tiles: the examples of OpenAI’s page', () => {
    const rule = byTiles(85, 170);
    expect(at(rule, 1024, 1024)).toBe(765);
    expect(at(rule, 2048, 4096)).toBe(1105);
    expect(at(rule, 4096, 8192, 'low')).toBe(85);
    expect(at(rule, 512, 512)).toBe(255);
  });

  it('patches: up to the limit, times the factor', () => {
    expect(at(byPatches(1536, 1), 1024, 1024)).toBe(1024);
    expect(at(byPatches(1536, 1), 1800, 2400)).toBe(1536);
    expect(at(byPatches(1536, 1.62), 1024, 1024)).toBe(1659);
  });

  it('area: a token per 750 pixels of the fitted image', () => {
    const rule = byArea(1568, 1600);
    expect(at(rule, 200, 200)).toBe(54);
    expect(at(rule, 405, 405)).toBe(219);
    expect(at(rule, 1000, 1000)).toBe(1334);
    expect(at(rule, 4000, 4000)).toBe(1600);
    expect(at(rule, 3136, 100)).toBe(Math.ceil((1568 * 50) / 750));
  });

  it('crops: one unit, or as many as there are tiles', () => {
    expect(at(byCrops, 384, 384)).toBe(258);
    expect(at(byCrops, 385, 10)).toBe(258);
    expect(at(byCrops, 960, 540)).toBe(516);
  });

  it.each([byTiles(85, 170), byArea(1568, 1600), byPatches(1536, 1.62), byCrops])(
    'never exceeds its maximum, whatever the size (%#)',
    (rule) => {
      const side = fc.integer({ min: 1, max: 100_000 });
      fc.assert(
        fc.property(side, side, (width, height) => {
          const tokens = at(rule, width, height);
          expect(tokens > 0 && tokens <= rule.most).toBe(true);
        }),
      );
      const largest = [2_048, 3_072, 100_000].flatMap((one) => [
        at(rule, one, one),
        at(rule, one, 768),
      ]);
      expect(Math.max(...largest)).toBe(rule.most);
    },
  );
});
