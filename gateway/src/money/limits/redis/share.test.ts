import { expect, test } from 'vitest';
import { createShare } from './share.ts';

const limit = 100n;
const meters = [{ name: 'm', limit, floor: 1n }];
const hold = (id: string, amount: bigint) => ({ id, amount, meters, expiresAt: 0 });

function open() {
  let now = 0;
  const share = createShare({
    monotonic: () => now,
    liveNodes: () => 1,
    lookUp: () => Promise.reject(new Error('not asked')),
  });
  return { share, pass: (milliseconds: number) => void (now += milliseconds) };
}

test('spending in the share during a short failure counts once after Redis learns of it', () => {
  const { share, pass } = open();
  for (let failure = 0; failure < 9; failure += 1) {
    share.learn('m', { spent: BigInt(failure) * 10n, held: 0n });
    expect(share.hold(hold(`req_${failure}`, 10n), 60_000)).toEqual({ held: true, amount: 10n });
    share.commitHold(`req_${failure}`, 10n);
    pass(2_000);
  }
});

test('spending that Redis may not know yet keeps counting', () => {
  const { share, pass } = open();
  share.learn('m', { spent: 0n, held: 0n });
  expect(share.hold(hold('req_held', 60n), 60_000)).toEqual({ held: true, amount: 60n });
  pass(2_000);
  // A response from before it was put back.
  share.learn('m', { spent: 0n, held: 0n });
  expect(share.hold(hold('req_more', 60n), 60_000)).toEqual({ held: true, amount: 40n });
  share.commitHold('req_held', 60n);
  share.commitHold('req_more', 40n);
  pass(10);
  share.learn('m', { spent: 0n, held: 0n });
  expect(share.hold(hold('req_last', 1n), 60_000)).toEqual({ held: false, denied: 'm' });
});
