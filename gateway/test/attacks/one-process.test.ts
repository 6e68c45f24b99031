import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSimulator, type Simulator } from 'simulator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { run } from '#commands/index.ts';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { key } from '../faults/nodes.ts';
import { startGatewayProcess, type GatewayProcess } from '../support/gateway-process.ts';
import { describeAccounts, limitOf, type Account } from './accounts.ts';
import { ask, heldPerRequest, type Answer } from './ask.ts';
import { expectExact, expectSpendable, sum } from './exactness.ts';

/* One process on SQLite, whose memory has all leases: what nodes on PostgreSQL are attacked with, as far as it concerns it. */

/** Responses under way when it is killed: they hold nearly all of the balance. */
const cut = 6;
const killed: Account = {
  name: 'killed',
  limit: 'balance',
  amount: ((cut + 2.25) * Number(heldPerRequest)) / 1e9,
};
const lowered: Account = { name: 'lowered', limit: 'quota', amount: 1_000 };
const limited: Account = { name: 'limited', limit: 'none', amount: 0 };
const all = [killed, lowered, limited];

describe('one process on SQLite', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-one-'));
  const databaseUrl = `sqlite:${folder}/test.db`;
  let simulator: Simulator;
  let gateway: GatewayProcess;
  let database: OpenDatabase;
  let url: string;
  const node = {
    name: 'one',
    get url() {
      return url;
    },
  };
  const world = {
    nodes: [node],
    get database() {
      return database;
    },
  };

  const start = async (): Promise<void> => {
    gateway = startGatewayProcess({ folder });
    url = await gateway.url;
  };
  const write = (accounts: readonly Account[]): void =>
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `
server: { port: 0, drain_timeout: 5s }
storage: { url: ${JSON.stringify(databaseUrl)}, data_dir: ./data }
channels:
  - name: sim
    provider: simulator
    base_url: ${simulator.url}
    protocols: [chat]
    models: [{ name: priced, upstream: demo-chat }]
models:
  - { id: priced, type: chat, max_output_tokens: 1000, price: { input: 1000, output: 2000 } }
${describeAccounts(accounts)}`,
    );
  beforeAll(async () => {
    simulator = await startSimulator({ keptRequests: 10_000 });
    write(all);
    await start();
    database = openDatabase({ url: databaseUrl });
  }, 30_000);
  afterAll(async () => {
    gateway.child.kill('SIGKILL');
    await gateway.exit;
    await database.close();
    await simulator.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const openStream = async (account: Account): Promise<void> => {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key(account.name)}`,
        'content-type': 'application/json',
        'x-simulator-fault': 'gap=200;events=200',
      },
      body: JSON.stringify({
        model: 'priced',
        stream: true,
        max_tokens: 20,
        messages: [{ role: 'user', content: 'hello' }],
      }),
    });
    expect(response.status).toBe(200);
    // Its first bytes.
    await response.body!.getReader().read();
  };

  /** Asks again as a client does: what has just started on a busy machine is overloaded for a moment. */
  const served = async (): Promise<Answer> => {
    for (;;) {
      const answer = await ask(node, killed);
      if (answer.status !== 503) return answer;
      await wait(200);
    }
  };

  test(
    'R-26 killed with streams open and started again: they hold nothing, and nobody is locked out',
    { timeout: 60_000 },
    async () => {
      const answers = [await ask(node, killed)];
      await Promise.all(Array.from({ length: cut }, () => openStream(killed)));
      gateway.child.kill('SIGKILL');
      await gateway.exit;
      await start();
      // All at once: with the streams' holds there would be room for none of them.
      const back = await Promise.all(Array.from({ length: cut }, served));
      expect(back.map(({ status }) => status)).toEqual(Array.from({ length: cut }, () => 200));
      answers.push(...back);
      await expectSpendable(world, [killed], answers);
      await expectExact(world, [killed], answers);
    },
  );

  test.for([
    ['lowered', lowered],
    ['set for the first time', limited],
  ] as const)(
    'a limit that is %s under load binds at once',
    { timeout: 60_000 },
    async ([, account]) => {
      const answers: Answer[] = [];
      let isOver = false;
      const continues = () => !isOver;
      // Not so fast that a key which is always refused would not be read any more.
      const askOn = async (): Promise<void> => {
        while (continues()) {
          const some = await Promise.all(
            [0, 1, 2, 3].map((at) => ask(node, account, { fault: `delay=${at * 100}` })),
          );
          answers.push(...some);
          if (some.some(({ status }) => status !== 200)) await wait(200);
        }
      };
      const load = askOn();
      await expect.poll(() => answers.length, { timeout: 10_000, interval: 20 }).toBeGreaterThan(7);
      // Less than is spent.
      const amount = Math.ceil(Number(sum(answers.map(({ cost }) => cost ?? 0n))) / 2e6) / 1e3;
      const changed: Account = { ...account, limit: 'quota', amount };
      write(all.map((each) => (each === account ? changed : each)));
      let out = '';
      const say = (text: string) => void (out += text);
      const io = { stdout: say, stderr: say, environment: {}, workingDirectory: folder };
      expect([await run(['reload'], io), out]).toEqual([0, expect.any(String)]);
      const bound = performance.now() + 1_000;
      await expect.poll(() => answers.some(({ startedAt }) => startedAt >= bound)).toBe(true);
      isOver = true;
      await load;
      const before = sum(
        answers.filter(({ startedAt }) => startedAt < bound).map(({ cost }) => cost ?? 0n),
      );
      expect(before).toBeGreaterThan(limitOf(changed));
      await expectSpendable(world, [changed], answers);
      await expectExact(world, [{ ...changed, amount: Number(before) / 1e9 }], answers);
    },
  );
});
