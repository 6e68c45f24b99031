import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { createSpool } from './spool.ts';
import { SpoolFailure, type SpooledBody } from './spooled-body.ts';

const sent = (keyId: string) => ({ keyId, of: 'request' }) as const;
const drawn = (keyId: string) => ({ keyId, of: 'response' }) as const;

const mebibyte = 2 ** 20;
let directory: string;
/** Milliseconds. */
let now = 0;
let said: string[] = [];
const open = (limit: number, memory = 0) =>
  createSpool({
    directory,
    limit,
    memory,
    monotonic: () => now,
    onProblem: () => said.push('problem'),
    onRecovery: () => said.push('recovery'),
  });
beforeEach(() => {
  said = [];
  directory = path.join(mkdtempSync(path.join(tmpdir(), 'sluice-test-')), 'spool');
});
afterEach(() => rmSync(path.dirname(directory), { recursive: true }));

async function readAll(body: SpooledBody, start?: number, end?: number): Promise<Buffer> {
  const pieces = [];
  for await (const piece of body.read(start, end)) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces);
}

function patterned(length: number, seed: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + seed) % 251;
  return bytes;
}

describe('a spooled body', () => {
  test('is read as it was written, however it was cut', async () => {
    const spool = open(100 * mebibyte, mebibyte);
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat(100), fc.nat(700_000)), { maxLength: 8 }),
        fc.nat(),
        fc.nat(),
        fc.boolean(),
        async (lengths, from, to, isEarlier) => {
          // Another body may hold the memory.
          const other = spool.reserve(0)!;
          if (isEarlier) other.open().add(patterned(mebibyte / 2, 1));
          const space = spool.reserve(0);
          const body = space!.open();
          const pieces = lengths.map((length, at) => patterned(length, at));
          for (const piece of pieces) body.add(piece);
          await body.seal();
          const whole = Buffer.concat(pieces);
          expect(body.length).toBe(whole.length);
          expect((await readAll(body)).equals(whole)).toBe(true);
          const [start, end] = [from % (whole.length + 1), to % (whole.length + 1)];
          expect((await readAll(body, start, end)).equals(whole.subarray(start, end))).toBe(true);
          space!.release();
          other.release();
        },
      ),
      { numRuns: 40 },
    );
    expect([spool.usedBytes, spool.keptBytes]).toEqual([0, 0]);
  });

  test('has no file with a name, and none at all if it is small', async () => {
    const space = open(100 * mebibyte).reserve(0);
    const small = space!.open();
    small.add(patterned(1_000, 1));
    await small.seal();
    expect(await readAll(small)).toHaveLength(1_000);
    const large = space!.open();
    large.add(patterned(2 * mebibyte, 1));
    await large.seal();
    expect(readdirSync(directory)).toEqual([]);
    expect(await readAll(large)).toHaveLength(2 * mebibyte);
    space!.release();
    await expect(readAll(large)).rejects.toThrow(SpoolFailure);
  });

  test('pauses a sender that is faster than the disk', async () => {
    const space = open(100 * mebibyte).reserve(0);
    const body = space!.open();
    let drained = 0;
    body.onDrain = () => {
      drained += 1;
    };
    const isReady = Array.from({ length: 8 }, () => body.add(patterned(200_000, 1)));
    expect(isReady).toEqual([true, false, false, false, false, false, false, false]);
    await body.seal();
    expect(drained).toBe(1);
    expect(body.add(patterned(1, 1))).toBe(true);
    await body.seal();
    expect(await readAll(body)).toHaveLength(1_600_001);
    space!.release();
  });

  test('fails if its file cannot be written, and lets the sender continue', async () => {
    const space = open(100 * mebibyte).reserve(8 * mebibyte);
    rmSync(directory, { recursive: true });
    const body = space!.open();
    const resumed = new Promise<void>((resolve) => {
      body.onDrain = resolve;
    });
    for (let count = 0; count < 8; count += 1) body.add(patterned(mebibyte, 1));
    await resumed;
    await expect(body.seal()).rejects.toThrow(SpoolFailure);
    expect(body.add(patterned(mebibyte, 1))).toBe(true);
    space!.release();
    expect(said).toEqual(['problem']);
  });
});

describe('the spool', () => {
  test('keeps bodies in memory while there is room', async () => {
    const spool = open(100 * mebibyte, 2 * mebibyte);
    const space = spool.reserve(0);
    const [first, second] = [space!.open(), space!.open()];
    first.add(patterned(1.5 * mebibyte, 1));
    second.add(patterned(mebibyte, 1));
    expect(spool.keptBytes).toBe(1.5 * mebibyte);
    first.release();
    expect(spool.keptBytes).toBe(0);
    // It has a file, so it stays there.
    second.add(patterned(mebibyte, 1));
    await second.seal();
    expect([spool.keptBytes, spool.usedBytes]).toEqual([0, 2 * mebibyte]);
    space!.release();
    expect([spool.keptBytes, spool.usedBytes]).toEqual([0, 0]);
  });

  test('empties its folder at the start', () => {
    open(1);
    const left = path.join(directory, '7');
    writeFileSync(left, 'x');
    open(1);
    expect(existsSync(left)).toBe(false);
  });

  test('leaves a link at the place of its folder, and what is not its own', () => {
    const elsewhere = path.join(path.dirname(directory), 'elsewhere');
    mkdirSync(path.join(elsewhere, 'lost+found'), { recursive: true });
    writeFileSync(path.join(elsewhere, '1'), 'x');
    symlinkSync(elsewhere, directory);
    open(1);
    expect(lstatSync(directory).isSymbolicLink()).toBe(true);
    expect(readdirSync(elsewhere)).toEqual(['lost+found']);
  });

  test('makes its folder again if somebody has removed it', async () => {
    const spool = open(100 * mebibyte);
    rmSync(directory, { recursive: true });
    now += 1_000;
    const space = spool.reserve(mebibyte)!;
    const body = space.open();
    body.add(patterned(mebibyte, 1));
    await body.seal();
    expect([space === null, spool.problem(), said]).toEqual([false, null, []]);
    space.release();
  });

  test('reserves nothing while no file can be written, and reports it once', async () => {
    const spool = open(100 * mebibyte);
    const before = spool.reserve(mebibyte)!;
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'x');
    const body = before.open();
    body.add(patterned(mebibyte, 1));
    await expect(body.seal()).rejects.toThrow(SpoolFailure);
    before.release();
    // At once, and when it has looked again.
    for (let look = 0; look < 3; look += 1) {
      expect(spool.reserve(1)).toBeNull();
      // Needs no file.
      spool.reserve(0)!.release();
      expect(spool.problem()).toBeInstanceOf(Error);
      now += 1_000;
    }
    expect([said, spool.refused]).toEqual([['problem'], 3]);
    rmSync(directory);
    expect(spool.problem()).toBeNull();
    spool.reserve(1)!.release();
    expect(said).toEqual(['problem', 'recovery']);
    expect(spool.usedBytes).toBe(0);
  });

  test('reserves no more than its limit', () => {
    const spool = open(10);
    const first = spool.reserve(6);
    expect(spool.reserve(5)).toBeNull();
    const second = spool.reserve(4);
    expect(spool.usedBytes).toBe(10);
    first!.release();
    first!.release();
    expect(spool.usedBytes).toBe(4);
    second!.release();
    expect(spool.usedBytes).toBe(0);
  });

  test('gives a body more than was reserved while there is room', async () => {
    const spool = open(5 * mebibyte);
    const space = spool.reserve(mebibyte);
    const body = space!.open();
    body.add(patterned(3 * mebibyte, 1));
    await body.seal();
    expect(spool.usedBytes).toBe(3 * mebibyte);
    body.add(patterned(3 * mebibyte, 1));
    await expect(body.seal()).rejects.toThrow('there is no room');
    space!.release();
    expect(spool.usedBytes).toBe(0);
  });

  test('gives the bodies that one key sends half of its limit, or one body all of it', () => {
    const spool = open(10 * mebibyte);
    const first = spool.reserve(4 * mebibyte, sent('a'));
    expect(spool.reserve(2 * mebibyte, sent('a'))).toBeNull();
    const second = spool.reserve(mebibyte, sent('a'));
    expect(spool.reserve(1, sent('a'))).toBeNull();
    const other = spool.reserve(5 * mebibyte, sent('b'));
    expect(spool.usedBytes).toBe(10 * mebibyte);
    for (const space of [first, second, other]) space!.release();
    spool.reserve(9 * mebibyte, sent('a'))!.release();
    expect(spool.usedBytes).toBe(0);
  });

  test('leaves an eighth of its limit to other keys, whatever one key asks for', () => {
    const spool = open(80);
    const one = spool.reserve(60, drawn('a'));
    expect(spool.reserve(11, drawn('a'))).toBeNull();
    const more = spool.reserve(10, sent('a'));
    expect(spool.reserve(1, sent('a'))).toBeNull();
    expect(spool.reserve(1, drawn('a'))).toBeNull();
    const other = spool.reserve(10, drawn('b'));
    expect(spool.usedBytes).toBe(80);
    for (const space of [one, more, other]) space!.release();
    const [body, image] = [spool.reserve(20, sent('a')), spool.reserve(60, drawn('a'))];
    expect(spool.usedBytes).toBe(80);
    for (const space of [body, image]) space!.release();
    expect(spool.usedBytes).toBe(0);
  });

  test('leaves room on the disk for the journal', () => {
    const spool = open(Number.MAX_SAFE_INTEGER);
    expect(spool.reserve(2 ** 50)).toBeNull();
  });
});
