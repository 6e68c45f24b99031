import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { BodyClaim } from './body-claim.ts';
import { createBodyMemory, type BodyMemory } from './body-memory.ts';

const mebibyte = 2 ** 20;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** 256 MiB: 64 of them a reserve, 192 shared. A body counts three times. */
const create = (limit = 256 * mebibyte) => createBodyMemory({ limit, monotonic: () => Date.now() });

/** The outcome for a waiting body, as a word. */
function wait(claim: BodyClaim, mebibytes: number): () => string {
  let told = 'nothing';
  claim.waitForBody(mebibytes * mebibyte, (refusal) => {
    told = refusal === null ? 'in' : refusal.errorName;
  });
  return () => told;
}

describe('the memory for bodies', () => {
  test('a key may have all of the shared part, and no more', () => {
    const memory = create();
    const claims = Array.from({ length: 8 }, () => memory.open('a'));
    const held = claims.map((claim) => claim.tryBody(15 * mebibyte));
    // 45 MiB each: 192 MiB hold four of them, and none fits into the reserve.
    expect(held).toEqual([true, true, true, true, false, false, false, false]);
    claims[0]?.release();
    expect(claims[4]?.tryBody(15 * mebibyte)).toBe(true);
  });

  test('however much one key holds, another key’s body of a megabyte is admitted', () => {
    const memory = create();
    for (let at = 0; at < 1_000; at += 1) memory.open('greedy').tryBody(mebibyte);
    const greedy = memory.usedBytes;
    expect(greedy).toBeGreaterThan(150 * mebibyte);
    expect(memory.open('other').tryBody(mebibyte)).toBe(true);
    expect(memory.usedBytes).toBeLessThanOrEqual(memory.limit);
  });

  test('something is left for the fortieth key', () => {
    const memory = create();
    for (let key = 0; key < 39; key += 1) {
      for (let at = 0; at < 200; at += 1) memory.open(`greedy ${key}`).tryBody(64 * 1024);
    }
    expect(memory.open('other').tryBody(64 * 1024)).toBe(true);
  });

  test('a body larger than all of it is admitted alone, and keeps no small one out', () => {
    const memory = create();
    const other = memory.open('a');
    expect(other.tryBody(10 * mebibyte)).toBe(true);
    const huge = memory.open('b');
    expect(huge.tryBody(500 * mebibyte)).toBe(false);
    const told = wait(huge, 500);
    // Who comes later does not overtake it.
    const later = memory.open('c');
    expect(later.tryBody(20 * mebibyte)).toBe(false);
    const toldLater = wait(later, 20);
    other.release();
    expect([told(), toldLater()]).toEqual(['in', 'nothing']);
    expect(memory.open('d').tryBody(mebibyte)).toBe(true);
    huge.release();
    expect(toldLater()).toBe('in');
  });

  test('a waiting request is asked to retry after five seconds', () => {
    const memory = create();
    memory.open('a').tryBody(60 * mebibyte);
    const told = wait(memory.open('b'), 60);
    vi.advanceTimersByTime(4_900);
    expect([told(), memory.waiting]).toEqual(['nothing', 1]);
    vi.advanceTimersByTime(400);
    expect([told(), memory.waiting, memory.refused]).toEqual(['overloaded', 0, 1]);
  });

  test('of the waiting requests, the key that holds least is served first', () => {
    const memory = create();
    const first = memory.open('a');
    first.tryBody(30 * mebibyte);
    memory.open('a').tryBody(30 * mebibyte);
    const again = wait(memory.open('a'), 30);
    const other = wait(memory.open('b'), 30);
    first.release();
    expect([again(), other()]).toEqual(['nothing', 'in']);
  });

  test('a slow body gives way when another key waits, if its key has more than its part', () => {
    const memory = create();
    const slow = memory.open('a');
    slow.tryBody(60 * mebibyte);
    const giveWay = vi.fn<() => void>(() => slow.release());
    slow.startReading(giveWay);
    vi.advanceTimersByTime(60_000);
    // Its own key's next body is no reason.
    const own = wait(memory.open('a'), 30);
    vi.advanceTimersByTime(4_500);
    expect([own(), giveWay.mock.calls.length]).toEqual(['nothing', 0]);
    const told = wait(memory.open('b'), 30);
    vi.advanceTimersByTime(300);
    expect([told(), giveWay.mock.calls.length]).toEqual(['in', 1]);
  });

  test('a slow body within its key’s part, and a finished one, stay', () => {
    const memory = create();
    const [modest, whole] = [memory.open('a'), memory.open('b')];
    const giveWay = vi.fn<() => void>();
    modest.tryBody(20 * mebibyte);
    modest.startReading(giveWay);
    whole.tryBody(40 * mebibyte);
    whole.startReading(giveWay);
    whole.endReading();
    const told = wait(memory.open('c'), 60);
    vi.advanceTimersByTime(6_000);
    expect([told(), giveWay.mock.calls.length]).toEqual(['overloaded', 0]);
  });

  test('a key without money has one large body in flight, and small ones beside it', () => {
    const memory = create();
    const open = (): BodyClaim => {
      const claim = memory.open('poor');
      claim.isOnly = true;
      return claim;
    };
    const first = open();
    const second = open();
    expect(first.tryBody(2 * mebibyte)).toBe(true);
    expect(second.tryBody(2 * mebibyte)).toBe(false);
    expect(open().tryBody(mebibyte / 2)).toBe(true);
    const told = wait(second, 2);
    // It keeps nobody else waiting.
    expect(wait(memory.open('rich'), 20)()).toBe('in');
    first.release();
    expect(told()).toBe('in');
  });

  test('the parsed form counts: thousands of values take more than their bytes', () => {
    const memory = create(4 * mebibyte);
    const claim = memory.open('a');
    const body = Buffer.alloc(100_000, 32);
    claim.tryBody(body.length);
    claim.takeParsed(body, 0, 0);
    expect(memory.usedBytes).toBe(300_000);
    claim.takeParsed(body, 1_000, 20_000);
    expect(memory.usedBytes).toBe(300_000 + 1_000 * 88 + 20_000 * 56);
    const other = memory.open('b');
    other.tryBody(body.length);
    expect(() => other.takeParsed(body, 0, 1_000_000)).toThrow(
      expect.objectContaining({ errorName: 'overloaded', retryAfter: 1 }),
    );
    // Alone it may.
    claim.release();
    other.takeParsed(body, 0, 1_000_000);
  });

  test('a response takes room beside its request, twice its bytes, and gives it back', () => {
    const memory = create(4 * mebibyte);
    const claim = memory.open('a');
    claim.tryBody(1_000);
    expect(claim.tryResponse(mebibyte)).toBe(true);
    expect(memory.usedBytes).toBe(3_000 + 2 * mebibyte);
    const other = memory.open('b');
    other.tryBody(1_000);
    expect(other.tryResponse(mebibyte)).toBe(false);
    expect(memory.usedBytes).toBe(6_000 + 2 * mebibyte);
    expect(claim.tryResponse(0)).toBe(true);
    expect(other.tryResponse(mebibyte)).toBe(true);
    claim.release();
    other.release();
    expect(memory.usedBytes).toBe(0);
  });

  describe('a response for which there is no room', () => {
    /** A body of another key that arrives slowly. */
    function slow(memory: BodyMemory, key: string, mebibytes: number) {
      const claim = memory.open(key);
      expect(claim.tryBody(mebibytes * mebibyte)).toBe(true);
      let refusal: string | null = null;
      claim.startReading((error) => {
        refusal = error.errorName;
        claim.release();
      });
      return { claim, refusal: () => refusal };
    }

    test('gets that of a body that is being read, before those who wait', () => {
      const memory = create(128 * mebibyte);
      const reading = slow(memory, 'slow', 32);
      const told = wait(memory.open('waits'), 20);
      const small = memory.open('small');
      small.tryBody(1_000);
      expect(small.tryResponse(30 * mebibyte)).toBe(true);
      expect([reading.refusal(), told()]).toEqual(['overloaded', 'nothing']);
      small.tryResponse(0);
      expect(told()).toBe('in');
    });

    test('gets nothing of a body that was read, nor of a key within its part', () => {
      const memory = create(128 * mebibyte);
      const read = slow(memory, 'read', 12);
      read.claim.endReading();
      const modest = slow(memory, 'modest', 10);
      const large = memory.open('large');
      large.tryBody(10 * mebibyte);
      // 66 of 96 MiB are of others, who may have 32 each.
      expect(large.tryResponse(20 * mebibyte)).toBe(false);
      expect([read.refusal(), modest.refusal()]).toEqual([null, null]);
    });

    test('ends a body of its own key', () => {
      const memory = create(128 * mebibyte);
      const reading = slow(memory, 'own', 32);
      const other = memory.open('own');
      other.tryBody(1_000);
      expect(other.tryResponse(30 * mebibyte)).toBe(true);
      expect(reading.refusal()).toBe('overloaded');
    });

    test('ends no body in vain, and no more than it needs', () => {
      const memory = create(128 * mebibyte);
      const read = slow(memory, 'slow', 12);
      read.claim.endReading();
      const reading = [slow(memory, 'slow', 10), slow(memory, 'slow', 10)];
      const response = memory.open('other');
      response.tryBody(1_000);
      expect(response.tryResponse(40 * mebibyte)).toBe(false);
      expect(reading.map(({ refusal }) => refusal())).toEqual([null, null]);
      expect(response.tryResponse(14 * mebibyte)).toBe(true);
      expect(reading.map(({ refusal }) => refusal())).toEqual(['overloaded', null]);
    });
  });

  test('text beyond ASCII may take two bytes per character', () => {
    const memory = create();
    const claim = memory.open('a');
    claim.takeParsed(Buffer.from('ä'), 0, 0);
    expect(memory.usedBytes).toBe(8);
  });

  test('a client that disconnected hears nothing and holds nothing', () => {
    const memory = create();
    const first = memory.open('a');
    first.tryBody(60 * mebibyte);
    const gone = memory.open('b');
    const told = wait(gone, 60);
    gone.release();
    gone.release();
    first.release();
    first.release();
    vi.advanceTimersByTime(10_000);
    expect([told(), memory.usedBytes, memory.waiting, memory.refused]).toEqual([
      'nothing',
      0,
      0,
      0,
    ]);
    expect(gone.tryBody(mebibyte)).toBe(true);
    expect(memory.usedBytes).toBe(0);
  });
});

test('in any order of events the limit holds and all memory is released', () => {
  const step = fc.record({
    what: fc.constantFrom('open', 'grow', 'parse', 'release', 'time'),
    which: fc.nat(19),
    kibibytes: fc.nat(40_000),
    isOnly: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const memory = create(32 * mebibyte);
      const claims: BodyClaim[] = [];
      for (const { what, which, kibibytes, isOnly } of steps) {
        const claim = claims[which % Math.max(1, claims.length)];
        const bytes = kibibytes * 1024;
        if (what === 'open') {
          const opened = memory.open(`key ${which % 5}`);
          opened.isOnly = isOnly;
          if (!opened.tryBody(bytes)) opened.waitForBody(bytes, () => {});
          opened.startReading(() => opened.release());
          claims.push(opened);
        } else if (what === 'time') vi.advanceTimersByTime(which * 100);
        else if (what === 'grow') claim?.tryBody(bytes);
        else if (what === 'parse') {
          try {
            claim?.takeParsed(Buffer.alloc(10), 0, kibibytes);
          } catch {}
        } else claim?.release();
        const shared = claims.filter((each) => each.isShared && !each.isReleased);
        const most = Math.max(24 * mebibyte, ...shared.map(({ heldBytes }) => heldBytes));
        expect(memory.usedBytes).toBeLessThanOrEqual(most + 8 * mebibyte);
        expect(memory.usedBytes).toBe(
          claims.reduce((sum, each) => sum + (each.isReleased ? 0 : each.heldBytes), 0),
        );
      }
      for (const claim of claims) claim.release();
      expect([memory.usedBytes, memory.waiting]).toEqual([0, 0]);
    }),
    { numRuns: 300 },
  );
});
