import { expect, test } from 'vitest';
import { collectGarbage } from '#body-work/collect-garbage.ts';

test('unreferenced memory is released, and no global function is left behind', () => {
  const held = new WeakRef({ list: Array.from({ length: 1000 }, (_, at) => at) });
  return new Promise<void>((resolve) => {
    // A WeakRef keeps its target until the turn ends.
    setImmediate(() => {
      collectGarbage();
      expect(held.deref()).toBe(undefined);
      expect('gc' in globalThis).toBe(false);
      resolve();
    });
  });
});
