import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { RateLimit } from '#limits/index.ts';
import type { Asked, Order } from './clock-node.ts';
import { redisAnswers, redisUrl, removeKeys } from './implementations.ts';

const hour = 3_600_000;
const day = 24 * hour;
/** How wrong each process's clock is, from time to time. */
const offsets = [
  [0, 40 * day, -hour],
  [hour, -40 * day, 0],
  [-40 * day, 1_500, 40 * day],
] as const;
const windowMs = 800;

describe.skipIf(!redisAnswers)('P-14: three processes whose clocks differ and step', () => {
  const prefix = `test-${randomBytes(6).toString('hex')}:`;
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clocks-'));
  let nodes: ChildProcess[];

  const setClocks = async (turn: number): Promise<void> => {
    for (const [node, turns] of offsets.entries()) {
      writeFileSync(`${folder}/${node}.new`, String(turns[turn % turns.length]));
      renameSync(`${folder}/${node}.new`, `${folder}/${node}`);
    }
    await wait(100);
  };

  beforeAll(async () => {
    await setClocks(0);
    nodes = offsets.map((_, node) =>
      fork(new URL('./clock-node.ts', import.meta.url), [redisUrl, prefix, `node-${node}`], {
        execArgv: ['--import', new URL('../faults/clock.preload.mjs', import.meta.url).href],
        env: { ...process.env, CLOCK_OFFSET_FILE: `${folder}/${node}` },
        serialization: 'advanced',
      }),
    );
    await Promise.all(nodes.map((node) => once(node, 'message')));
  }, 30_000);
  afterAll(async () => {
    for (const node of nodes) node.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
    await removeKeys(prefix);
  });

  const order = async <Reply>(node: number, given: Order): Promise<Reply> => {
    const reply = once(nodes[node]!, 'message');
    nodes[node]!.send(given);
    const [first] = (await reply) as [Reply];
    return first;
  };
  const askOnce = async (node: number, limits: readonly RateLimit[]): Promise<Asked> =>
    (await order<Asked[]>(node, { limits, forMs: 0, atOnce: 1 }))[0]!;

  /** All of them ask for three windows of this length. @returns how often they were refused */
  const askAll = async (limit: RateLimit, longer: number, atOnce: number): Promise<number> => {
    const span = limit.windowMs;
    const asked = nodes.map((_, node) =>
      order<Asked[]>(node, { limits: [limit], forMs: 3 * span, atOnce }),
    );
    for (let turn = 1; turn <= 6; turn += 1) {
      await wait(span / 3);
      await setClocks(turn);
    }
    const all = (await Promise.all(asked)).flat();
    const admitted = all.filter((one) => one.admitted).toSorted((a, b) => a.from - b.from);
    for (const [at, { to }] of admitted.entries()) {
      const first = admitted[at - limit.limit];
      // Both of them, and all between, would have been decided within one window.
      if (first !== undefined) expect(to - first.from).toBeGreaterThanOrEqual(span);
    }
    const refused = all.filter((one) => !one.admitted);
    for (const { from, to, retryAfterMs } of refused.filter((_, at) => at % atOnce === 0)) {
      const before = from - span - longer;
      const counted = admitted.filter((one) => one.to >= before && one.from <= to);
      expect(counted.length).toBeGreaterThanOrEqual(limit.limit);
      expect(retryAfterMs).toBeGreaterThanOrEqual(1);
      expect(retryAfterMs).toBeLessThanOrEqual(span + longer + 1);
    }
    if (refused.length > 0) expect(admitted.length).toBeGreaterThan(limit.limit);
    return refused.length;
  };

  test.each([
    ['exact', 20, Number.POSITIVE_INFINITY, 2],
    // Above 2 048 what has left a window counts for up to a 64th of it longer.
    ['in parts', 2_049, 64, 40],
  ])('no window exceeds its limit, %s', { timeout: 60_000 }, async (kind, limit, parts, atOnce) => {
    let refusals = 0;
    // A machine with other work does not ask that often: then more of it goes into a longer window.
    for (let span = windowMs; refusals === 0 && span <= 8 * windowMs; span *= 2) {
      const name = `${kind} ${span}`;
      refusals = await askAll({ name, limit, windowMs: span }, span / parts, atOnce);
    }
    expect(refusals).toBeGreaterThan(0);
  });

  test(
    'a client that waits as announced is admitted on any of them',
    { timeout: 30_000 },
    async () => {
      const limits = [{ name: 'waiting', limit: 1, windowMs: 500 }];
      for (let turn = 0; turn < 3; turn += 1) {
        const first = await askOnce(turn % 3, limits);
        expect(first.admitted).toBe(true);
        await setClocks(turn + 1);
        const second = (turn + 1) % 3;
        const refused = await askOnce(second, limits);
        // On a machine without time the window may have passed already.
        if (refused.admitted) expect(refused.to - first.from).toBeGreaterThanOrEqual(500);
        // Exactly as long: the clocks step while it waits.
        await Promise.all([wait(refused.retryAfterMs ?? 500), setClocks(turn + 2)]);
      }
    },
  );
});
