import { expect, onTestFinished } from 'vitest';
import { openDatabase, type OpenDatabase } from '#database/index.ts';
import { reconcile, type Difference } from '#ledger/index.ts';
import type { GatewayProcess } from '../support/gateway-process.ts';
import { askChat, createWorkplace, type Workplace } from '../workers/workplace.ts';

export const nodeNames = ['a', 'b', 'c'] as const;

/** `npm run test:sieges` asks for many more. */
export const loops = Math.min(Number(process.env['SLUICE_FAULT_LOOPS'] ?? '1'), 20);

/** `npm run test:kills` asks for hundreds. */
export const kills = Number(process.env['SLUICE_KILLS'] ?? loops);

export const key = (name: string) => `sk-${name}-0123456789abcdefghijklmnopqrstuvwxyz`;

export interface Nodes {
  readonly place: Workplace;
  readonly urls: readonly string[];
  readonly processes: GatewayProcess[];
  readonly database: OpenDatabase;
}

/** All at the same moment, on an empty database. */
export async function startNodes(
  more?: string,
  of: readonly string[] = nodeNames,
  { sharesRedis = true } = {},
): Promise<Nodes> {
  const place = await createWorkplace();
  for (const node of of) place.write({ node, ...(more !== undefined && { more }), sharesRedis });
  const processes = of.map((node) => place.start(node));
  const urls = await Promise.all(processes.map(({ url }) => url));
  const database = openDatabase({ url: place.databaseUrl });
  onTestFinished(() => database.close());
  return { place, urls, processes, database };
}

/** Ends all of them; then everything they did has to be in the books, to the nano. */
export async function stopAndReconcile({ processes, database }: Nodes): Promise<void> {
  for (const { child } of processes) child.kill('SIGINT');
  for (const { exit } of processes) expect(await exit).toBe(0);
  const differences: Difference[] = [];
  await reconcile(database, {}, (difference) => void differences.push(difference));
  expect(differences).toEqual([]);
}

/** This many requests at once, spread over the nodes. */
export function askEverywhere(
  urls: readonly string[],
  count: number,
  options: Parameters<typeof askChat>[1],
): Promise<Awaited<ReturnType<typeof askChat>>[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => askChat(urls[index % urls.length]!, options)),
  );
}

export const admittedOf = (responses: readonly { readonly status: number }[]) =>
  responses.filter(({ status }) => status === 200).length;

export async function knowEachOther(urls: readonly string[], count = urls.length): Promise<void> {
  for (const url of urls) {
    await expect
      .poll(
        async () =>
          /^sluice_live_nodes (\d+)$/m.exec(await (await fetch(`${url}/metrics`)).text())?.[1],
        { timeout: 30_000, interval: 250 },
      )
      .toBe(String(count));
  }
}

export const isDegraded = async (url: string, word: string): Promise<boolean> => {
  const { degraded } = (await (await fetch(`${url}/ready`)).json()) as { degraded: string[] };
  return degraded.includes(word);
};
