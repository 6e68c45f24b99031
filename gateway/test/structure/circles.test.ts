import { describe, expect, test } from 'vitest';
import { readImports } from './import-graph.ts';

/*
 * The linter finds circles of modules that run. A circle of types alone costs a reader as much: neither file can be
 * understood first.
 */

/** Groups of nodes that reach one another, each in the order in which it was left. */
function circlesIn(graph: ReadonlyMap<string, readonly string[]>): string[][] {
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[][] = [];

  function visit(node: string): number {
    const number = order.size;
    order.set(node, number);
    lowest.set(node, number);
    open.push(node);
    const targets = graph.get(node) ?? [];
    for (const target of targets) {
      const seen = order.has(target) ? (lowest.get(target) ?? number) : visit(target);
      if (open.includes(target)) lowest.set(node, Math.min(lowest.get(node) ?? number, seen));
    }
    const low = lowest.get(node) ?? number;
    if (low < number) return low;
    const group = open.splice(open.indexOf(node));
    if (group.length > 1 || targets.includes(node)) circles.push(group);
    return low;
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return circles;
}

describe('imports, those of types included', () => {
  test('are read from the source', () => {
    const imports = readImports();
    expect(imports.size).toBeGreaterThan(500);
    const missing = [...imports].flatMap(([file, targets]) =>
      targets.filter((target) => !imports.has(target)).map((target) => `${file} → ${target}`),
    );
    // The package's own version, and a list of prices.
    expect(missing.toSorted()).toEqual([
      'src/access/catalogue/bundled/entry.ts → src/access/catalogue/bundled/vendor-prices.json',
      'src/process/commands/command.ts → package.json',
    ]);
  });

  test('make no circle between files', () => {
    expect(circlesIn(readImports())).toEqual([]);
  });

  test.each([
    ['of two', { a: ['b'], b: ['a'] }, [['a', 'b']]],
    ['of three, seen from outside', { x: ['a'], a: ['b'], b: ['c'], c: ['a'] }, [['a', 'b', 'c']]],
    ['with itself', { a: ['a'] }, [['a']]],
    ['none, where two ways meet', { a: ['b', 'c'], b: ['d'], c: ['d'] }, []],
  ])('would show: %s', (_name, graph, circles) => {
    expect(circlesIn(new Map(Object.entries(graph)))).toEqual(circles);
  });
});
