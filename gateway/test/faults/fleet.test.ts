import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '#database/index.ts';
import { canStartRedis } from '../limits/private-redis.ts';
import { isSkipped } from '../database/databases.ts';
import { freePort } from '../support/free-port.ts';
import { isWithoutHaproxy, startHaproxy } from '../support/haproxy.ts';
import { isWithoutNginx, startNginx } from '../support/nginx.ts';
import { unexpectedLines } from '../support/gateway-process.ts';
import { startTcpProxy } from '../support/tcp-proxy.ts';
import { askChat, createWorkplace, workersOf } from '../workers/workplace.ts';
import { key, knowEachOther, nodeNames, stopAndReconcile } from './nodes.ts';

/** `npm run test:sieges` takes as many people as a company has, and as long as a managed database may need. */
const isFull = process.env['SLUICE_FAULT_LOOPS'] !== undefined;
const people = isFull ? 300 : 45;
const outageMs = isFull ? 60_000 : 6_000;
/** Between two requests of a person. */
const pauseMs = isFull ? 9_000 : 1_500;
/** Longer than a lease without a reserve is kept while nobody uses it. */
const quietMs = 13_000;
const workers = 2;

/** Of the node whose disk is full. */
const disk = mkdtempSync(join(tmpdir(), 'sluice-fleet-'));
const mounted = spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=32m,mode=700', 'sluice', disk]);
afterAll(() => {
  if (mounted.status === 0) spawnSync('umount', ['--lazy', disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Everybody in a team, with every kind of budget there is, none within reach. */
function describeAccounts(): string {
  const names = Array.from({ length: people }, (_, at) => `person${at}`);
  const teams = Map.groupBy(names, (_, at) => `team${at % 10}`);
  const users = names.map((name) => `{ email: ${name}@example.com, balance: 1 }`);
  const lines = Array.from(teams, ([team, members]) => {
    const shown = members.map((name) => `{ user: ${name}@example.com, budget: 500 }`);
    const budget = '{ daily: 5000, monthly: 50000, total: 90000 }';
    return `{ name: ${team}, balance: 100000, budget: ${budget}, members: [${shown.join()}] }`;
  });
  const keys = [...teams].flatMap(([team, members]) =>
    members.map(
      (name) =>
        `{ name: ${name}, user: ${name}@example.com, team: ${team}, quota: 400, secret: ${key(name)} }`,
    ),
  );
  const list = (entries: readonly string[]) => entries.map((entry) => `\n  - ${entry}`).join('');
  return `users:${list(users)}\nteams:${list(lines)}\nkeys:${list(keys)}\n`;
}

/** A request as its client saw it. */
interface Seen {
  readonly front: string;
  readonly sentAt: number;
  /** 0: the connection broke. */
  readonly status: number;
  readonly id: string | null;
  readonly isWhole: boolean;
  readonly text: string;
}

async function ask(front: string, person: number, isStreamed: boolean): Promise<Seen> {
  const sentAt = performance.now();
  const options = { key: key(`person${person}`), model: 'priced', stream: isStreamed };
  try {
    const { status, id, text } = await askChat(front, options);
    const isWhole = status === 200 && (!isStreamed || text.includes('data: [DONE]'));
    return { front, sentAt, status, id, isWhole, text: isWhole ? '' : text };
  } catch (error) {
    return { front, sentAt, status: 0, id: null, isWhole: false, text: String(error) };
  }
}

const canRun =
  canStartRedis &&
  !isSkipped('postgres') &&
  !isWithoutHaproxy &&
  !isWithoutNginx &&
  process.platform === 'linux' &&
  mounted.status === 0;

describe.skipIf(!canRun)('three nodes with workers behind HAProxy and nginx', () => {
  test(
    `${people} people are served while the database, a disk and nodes are lost`,
    { timeout: 480_000 + 2 * outageMs },
    async () => {
      const place = await createWorkplace();
      const target = new URL(place.databaseUrl);
      const proxy = await startTcpProxy(target.hostname, Number(target.port || 5432));
      target.hostname = '127.0.0.1';
      target.port = String(proxy.port);
      const more = describeAccounts();
      const ports = await Promise.all(nodeNames.map(() => freePort()));
      for (const [index, node] of nodeNames.entries())
        place.write({
          node,
          more,
          through: target.href,
          server: `, workers: ${workers}`,
          port: ports[index]!,
          ...(node === 'a' && { dataDir: disk }),
        });
      const processes = nodeNames.map((node) => place.start(node));
      const urls = await Promise.all(processes.map(({ url }) => url));
      const database = openDatabase({ url: place.databaseUrl });
      onTestFinished(() => database.close());
      const fronts = await Promise.all(
        [startHaproxy, startNginx].map((start, index) => {
          const folder = join(place.folder, `front-${index}`);
          mkdirSync(folder);
          return start({ folder, ports });
        }),
      );
      const [haproxy] = fronts;
      onTestFinished(async () => void (await Promise.all(fronts.map((front) => front.close()))));
      await knowEachOther(urls, nodeNames.length * workers);

      const all: Seen[] = [];
      // Each node has reserves only for those whom it has served: its workers name them to each other.
      await Promise.all(
        urls.map(async (url) => {
          for (let person = 0; person < people; person += 1)
            all.push(await ask(url, person, false));
        }),
      );
      expect(all.filter(({ isWhole }) => !isWhole)).toEqual([]);

      /** What people see during `work`, and for one request each before and after it. */
      const underLoad = async (work: () => Promise<void>): Promise<Seen[]> => {
        const seen: Seen[] = [];
        let isWanted = true;
        let asked = 0;
        const load = Array.from({ length: people }, async (_, at) => {
          await wait((at * pauseMs) / people);
          for (let round = 0, isLast = false; !isLast; round += 1) {
            isLast = !isWanted;
            asked += 1;
            const front = fronts[(at + round) % fronts.length]!.url;
            seen.push(await ask(front, at, (at + round) % 4 === 0));
            await wait(pauseMs);
          }
        });
        await expect.poll(() => asked, { timeout: 2 * pauseMs + 15_000 }).toBeGreaterThan(people);
        await work();
        isWanted = false;
        await Promise.all(load);
        all.push(...seen);
        return seen;
      };
      const started = [...processes];
      const linesWith = (id: string | null) =>
        started.flatMap((node) =>
          node
            .stderr()
            .split('\n')
            .filter((line) => id !== null && line.includes(id)),
        );
      /** What nodes and fronts say of them helps to find out why. */
      const expectServed = (seen: readonly Seen[]) => {
        const notServed = seen.filter(({ isWhole }) => !isWhole);
        const said = notServed.map(({ id }) => linesWith(id));
        const warnings =
          notServed.length > 0 ? started.map((node) => unexpectedLines(node.stderr())) : [];
        const errors = fronts.map((front) => front.errors());
        expect({ notServed, said, warnings, errors }).toEqual({
          notServed: [],
          said: [],
          warnings: [],
          errors,
        });
      };
      const restart = async (index: number) => {
        processes[index] = place.start(nodeNames[index]);
        started.push(processes[index]);
        await processes[index].url;
        await expect.poll(() => haproxy!.sendsTo(index)).toBe(true);
      };

      await wait(quietMs);
      const withoutDatabase = await underLoad(async () => {
        proxy.cut();
        await wait(outageMs);
        proxy.restore();
      });
      expectServed(withoutDatabase);
      for (const url of urls) {
        const depth = async () =>
          /^sluice_journal_depth (\d+)$/mu.exec(await (await fetch(`${url}/metrics`)).text())?.[1];
        await expect.poll(depth, { timeout: 30_000, interval: 250 }).toBe('0');
      }

      const drained = await underLoad(async () => {
        processes[1]!.child.kill('SIGTERM');
        expect(await processes[1]!.exit).toBe(0);
        await restart(1);
      });
      expectServed(drained);

      let killedAt = Infinity;
      const killed = await underLoad(async () => {
        const node = processes[2]!;
        killedAt = performance.now();
        for (const pid of [...workersOf(node), node.child.pid!]) process.kill(pid, 'SIGKILL');
        await node.exit;
        await wait(pauseMs);
        await restart(2);
      });
      // What had begun is cut; what comes later is served by the others.
      expectServed(killed.filter(({ sentAt }) => sentAt > killedAt));

      const filler = join(disk, 'filler');
      let noticedAt = Infinity;
      const full = await underLoad(async () => {
        const { bsize, bavail } = statfsSync(disk);
        expect(() => writeFileSync(filler, Buffer.alloc(bsize * (bavail + 1)))).toThrow('ENOSPC');
        // Two checks, one a second.
        await expect.poll(() => haproxy!.sendsTo(0)).toBe(false);
        noticedAt = performance.now();
        await wait(2 * pauseMs);
        rmSync(filler);
        await expect.poll(() => haproxy!.sendsTo(0)).toBe(true);
      });
      // Before, requests may meet it again and again: a node that refuses has the fewest connections.
      expectServed(full.filter(({ sentAt }) => sentAt > noticedAt));

      await stopAndReconcile({ place, urls, processes, database });
      const rows = await database.kysely
        .selectFrom('usage')
        .select(['id', 'time', 'outcome', 'overshoot', 'late'])
        .execute();
      // Nothing lost, nothing doubled, nothing beyond a hold, nothing without a lease.
      const ids = new Set(rows.map(({ id }) => id));
      expect(ids.size).toBe(rows.length);
      expect(all.filter(({ isWhole, id }) => isWhole && !ids.has(String(id)))).toEqual([]);
      const seenIds = new Set(all.map(({ id }) => id));
      // The killed node may have recorded what it did not deliver.
      const undelivered = rows.filter(
        ({ id, outcome }) => outcome === 'completed' && !seenIds.has(id),
      );
      expect(undelivered.filter(({ time }) => time > performance.timeOrigin + killedAt)).toEqual(
        [],
      );
      expect(undelivered.length).toBeLessThan(people);
      expect(rows.filter(({ overshoot, late }) => (overshoot ?? 0n) > 0n || late !== null)).toEqual(
        [],
      );
    },
  );
});
