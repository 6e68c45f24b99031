import { describe, expect, it } from 'vitest';
import { GatewayError } from '#errors/index.ts';
import { Spending } from './spending.ts';

/** A stream that costs 10 for each byte beside 5 000 for its input. */
function start(setting: {
  held: bigint;
  drawable: bigint;
  isRemote?: boolean;
  undecided?: number;
}) {
  let { held, drawable } = setting;
  const drawn: bigint[] = [];
  const ended: GatewayError[] = [];
  let bytes = 0;
  const draw = (amount: bigint): GatewayError | null => {
    drawn.push(amount);
    if (drawn.length <= (setting.undecided ?? 0)) return new GatewayError('unavailable');
    if (drawable === 0n) return new GatewayError('insufficient_balance');
    const more = amount < drawable ? amount : drawable;
    held += more;
    drawable -= more;
    return null;
  };
  const spending = new Spending({
    heldAmount: () => held,
    costAt: (outputBytes) => 5_000n + BigInt(outputBytes) * 10n,
    draw: (amount) =>
      setting.isRemote === true ? Promise.resolve().then(() => draw(amount)) : draw(amount),
    overshoot: 100_000n,
    ahead: 10_000,
    coveredBytes: 0,
    outputBytes: () => bytes,
    end: (error) => void ended.push(error),
    onDefect: (error) => expect.fail(String(error)),
  });
  const come = async (upTo: number) => {
    while (bytes < upTo && ended.length === 0) {
      bytes += 100;
      if (bytes >= spending.next) spending.look();
      if (setting.isRemote === true) await Promise.resolve().then(() => {});
    }
    return bytes;
  };
  return { come, drawn, ended, held: () => held };
}

describe.each([false, true])('a stream (from Redis: %s)', (isRemote) => {
  it('within its hold draws nothing', async () => {
    const { come, drawn, ended } = start({ held: 1_000_000n, drawable: 0n, isRemote });
    expect(await come(90_000)).toBe(90_000);
    expect([drawn, ended]).toEqual([[], []]);
  });

  it('that passes its hold draws more in time, as often as it needs', async () => {
    const { come, drawn, ended, held } = start({ held: 50_000n, drawable: 10n ** 9n, isRemote });
    expect(await come(200_000)).toBe(200_000);
    expect(ended).toEqual([]);
    expect(held()).toBeGreaterThan(1_900_000n);
    expect(drawn.length).toBeLessThan(40);
  });

  it('for which nothing is left ends when it is beyond by the overshoot', async () => {
    const { come, ended } = start({ held: 50_000n, drawable: 30_000n, isRemote });
    const bytes = await come(1_000_000);
    expect(ended).toMatchObject([{ errorName: 'insufficient_balance' }]);
    // 80 000 and 100 000 of overshoot, without 5 000 for the input.
    expect(bytes).toBeGreaterThan(17_400);
    expect(bytes).toBeLessThan(19_500);
  });

  it('about which nobody could decide asks again when it is beyond, and ends if that is in vain', async () => {
    const rich = { held: 50_000n, drawable: 10n ** 9n, isRemote };
    const again = start({ ...rich, undecided: 1 });
    expect(await again.come(200_000)).toBe(200_000);
    expect(again.ended).toEqual([]);
    const { come, ended } = start({ ...rich, undecided: Infinity });
    expect(await come(1_000_000)).toBeLessThan(16_500);
    expect(ended).toMatchObject([{ errorName: 'unavailable' }]);
  });
});
