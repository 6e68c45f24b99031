import { describe, expect, test } from 'vitest';
import { readImports } from './import-graph.ts';

/*
 * A codec's files stand on shelves: what requests are made of, then what whole responses add to it, then what streams
 * add to both. What stands beside the shelves is used by several of them.
 */

const shelves: readonly string[] = ['shared', 'schema', 'request', 'response', 'stream'];
const codecFile = /^src\/wire\/protocols\/([a-z-]+)\/codec\/(?:([a-z]+)\/)?[a-z0-9-]+\.ts$/;
const codecFace = /\/codec\/codec\.ts$/;

interface Place {
  readonly protocol: string;
  readonly floor: number;
}

/** Null for tests, and for files outside of a codec. */
function placeOf(file: string): Place | null {
  const [, protocol, shelf = 'shared'] = codecFile.exec(file) ?? [];
  if (protocol === undefined || codecFace.test(file)) return null;
  return { protocol, floor: shelves.indexOf(shelf) };
}

describe('the shelves of a codec', () => {
  const files = [...readImports()].flatMap(([file, targets]) => {
    const place = placeOf(file);
    return place === null ? [] : [{ file, targets, place }];
  });

  test('are there for every protocol of text', () => {
    const protocols = new Set(files.map(({ place }) => place.protocol));
    expect([...protocols].toSorted()).toEqual([
      'chat',
      'generate-content',
      'messages',
      'responses',
    ]);
    expect(files.filter(({ place }) => place.floor < 0).map(({ file }) => file)).toEqual([]);
  });

  test('use only what stands on their own or an earlier one', () => {
    const upward = files.flatMap(({ file, targets, place }) =>
      targets
        .filter((target) => (placeOf(target)?.floor ?? 0) > place.floor)
        .map((target) => `${file} → ${target}`),
    );
    expect(upward).toEqual([]);
  });
});
