import fc from 'fast-check';
import { expect, test } from 'vitest';
import { EventRun } from './response-flow.ts';

test('any choice of slices comes out as the same bytes, neighbours in one write', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ length: fc.integer({ min: 1, max: 9 }), keep: fc.boolean() })),
      (slices) => {
        const total = slices.reduce((sum, slice) => sum + slice.length, 0);
        const chunk = Buffer.from(Array.from({ length: total }, (_, index) => index & 255));
        const written: Buffer[] = [];
        const run = new EventRun(true, (bytes) => written.push(bytes));
        const expected: Buffer[] = [];
        let position = 0;
        let groups = 0;
        let previousKept = false;
        for (const { length, keep } of slices) {
          const slice = chunk.subarray(position, position + length);
          position += length;
          if (keep) {
            run.add(slice);
            expected.push(slice);
            if (!previousKept) groups += 1;
          }
          previousKept = keep;
        }
        run.flush();
        expect(Buffer.concat(written)).toEqual(Buffer.concat(expected));
        expect(written).toHaveLength(groups);
      },
    ),
  );
});

test('slices of different chunks are never joined', () => {
  const written: string[] = [];
  const run = new EventRun(true, (bytes) => written.push(bytes.toString()));
  run.add(Buffer.from('first'));
  run.add(Buffer.from('second'));
  run.flush();
  run.flush();
  expect(written).toEqual(['first', 'second']);
});

test('without joining every event is a write of its own', () => {
  const chunk = Buffer.from('onetwo');
  const written: string[] = [];
  const run = new EventRun(false, (bytes) => written.push(bytes.toString()));
  run.add(chunk.subarray(0, 3));
  run.add(chunk.subarray(3));
  run.flush();
  expect(written).toEqual(['one', 'two']);
});
