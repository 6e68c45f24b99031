import { expect, test } from 'vitest';
import { createMemoryMoney } from '#limits/index.ts';
import { createSpentSource } from './spent-source.ts';

const never = new Promise<never>(() => {});
const patience = 30;

function moneyFrom(spentSource: Parameters<typeof createMemoryMoney>[0]['spentSource']) {
  return createMemoryMoney({ now: Date.now, monotonic: () => performance.now(), spentSource });
}

const hold = async (money: ReturnType<typeof moneyFrom>) =>
  money.hold({
    id: 'req_1',
    amount: 1n,
    meters: [{ name: 'meter', limit: 10n, floor: 1n }],
    expiresAt: Date.now() + 60_000,
  });

test.each([
  ['the journal of before is not applied', { ready: never, read: async () => new Map() }],
  ['the database does not answer', { ready: Promise.resolve(), read: () => never }],
])('%s: nothing is admitted, and nobody waits for it', async (_what, options) => {
  const money = moneyFrom(createSpentSource({ ...options, patience }));
  await expect(hold(money)).rejects.toMatchObject({ errorName: 'unavailable' });
});

test('it reads only once everything of before is applied, and is asked again after a failure', async () => {
  const ready = Promise.withResolvers<void>();
  let applied = 0n;
  const read = async () => new Map([['meter', applied]]);
  const money = moneyFrom(createSpentSource({ ready: ready.promise, read, patience }));
  await expect(hold(money)).rejects.toMatchObject({ errorName: 'unavailable' });
  applied = 4n;
  ready.resolve();
  expect(await hold(money)).toEqual({ isHeld: true, amount: 1n });
  expect(money.read('meter')).toEqual({ spentAmount: 4n, heldAmount: 1n });
});
