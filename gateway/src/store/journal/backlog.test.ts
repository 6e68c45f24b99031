import { expect, test } from 'vitest';
import { Backlog } from './backlog.ts';

const open = () => {
  let time = 0;
  const backlog = new Backlog(() => time);
  let isCaughtUp = false;
  void backlog.caughtUp.then(() => (isCaughtUp = true));
  return {
    backlog,
    at(now: number) {
      time = now;
      return backlog;
    },
    async caughtUp() {
      await Promise.resolve();
      return isCaughtUp;
    },
  };
};

const batch = (upTo: number, count: number) => ({
  place: { id: upTo, last: 0, bytes: 0 },
  count,
  bytes: count * 10,
});

test('holds what was found and written, less what was applied', () => {
  const { backlog } = open();
  backlog.counted(3, 30);
  backlog.written(2, 20);
  backlog.applied(batch(7, 4));
  expect([backlog.depth, backlog.bytes, backlog.appliedPlace?.id]).toEqual([1, 10, 7]);
});

test('is empty, not less, when a batch is applied before it is said to be written', () => {
  const { backlog } = open();
  backlog.counted(0, 0);
  backlog.applied(batch(1, 2));
  expect(backlog.depth).toBe(0);
  backlog.written(3, 30);
  expect(backlog.depth).toBe(1);
});

test('is caught up at once when nothing was left', async () => {
  const { backlog, caughtUp } = open();
  expect(await caughtUp()).toBe(false);
  backlog.counted(0, 0);
  expect(await caughtUp()).toBe(true);
});

test('is caught up when what was left is applied, whatever was written since', async () => {
  const { backlog, caughtUp } = open();
  backlog.counted(3, 30);
  backlog.written(5, 50);
  backlog.applied(batch(1, 2));
  expect(await caughtUp()).toBe(false);
  backlog.applied(batch(2, 1));
  expect(await caughtUp()).toBe(true);
});

test('is applied until now while it is empty, else until the last moment of which all is applied', () => {
  const { at } = open();
  at(10).counted(0, 0);
  expect(at(20).appliedUntil).toBe(20);
  at(30).written(2, 20);
  expect(at(40).appliedUntil).toBe(-Infinity);
  at(50).applied(batch(1, 1));
  expect(at(60).appliedUntil).toBe(10);
  at(70).written(1, 10);
  at(80).applied(batch(2, 1));
  expect(at(90).appliedUntil).toBe(50);
});

test('says nothing new of itself while another writer counts', () => {
  const { at } = open();
  at(10).counted(2, 20);
  at(20).applied(batch(1, 1));
  at(30).recount();
  at(40).applied(batch(2, 1));
  expect(at(50).appliedUntil).toBe(-Infinity);
  // The writer had counted the batch that was applied meanwhile.
  at(60).counted(1, 10);
  expect(at(70)).toMatchObject({ depth: 0, bytes: 0 });
  expect(at(80).appliedUntil).toBe(80);
});
