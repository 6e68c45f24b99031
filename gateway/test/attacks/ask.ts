import { setTimeout as wait } from 'node:timers/promises';
import { key } from '../faults/nodes.ts';
import type { Account } from './accounts.ts';
import type { AttackedNode } from './world.ts';
import { seededRandom } from '../support/seeded-random.ts';

const random = seededRandom();

/** One request as its client saw it. */
export interface Answer {
  readonly account: string;
  readonly node: string;
  /** 0: there was no response. */
  readonly status: number;
  readonly id: string | null;
  /** Nano-USD, of what the response says was used; null if it did not come whole. */
  readonly cost: bigint | null;
  readonly retryAfter: string | null;
  /** Milliseconds of the clock of this process. */
  readonly startedAt: number;
  readonly milliseconds: number;
}

export interface AskOptions {
  /** Of the simulator, such as `delay=300`. */
  readonly fault?: string;
}

/** Of tokens in and out, as the model `priced` has it: nano-USD. */
const rates = { input: 1_000_000n, output: 2_000_000n };
const patience = 20_000;
const outputLimit = 20;

const body = JSON.stringify({
  model: 'priced',
  max_tokens: outputLimit,
  messages: [{ role: 'user', content: 'hello' }],
});

/** What each request holds, about twice what it costs: half of its bytes as tokens, and its output. In nano-USD. */
export const heldPerRequest =
  BigInt(Math.ceil(body.length / 2)) * rates.input + BigInt(outputLimit) * rates.output;

interface ChatUsage {
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A request whose hold is small, since its output is limited. */
export async function ask(
  { name: node, url }: Pick<AttackedNode, 'name' | 'url'>,
  { name: account }: Pick<Account, 'name'>,
  { fault = '' }: AskOptions = {},
): Promise<Answer> {
  const startedAt = performance.now();
  let status = 0;
  let id: string | null = null;
  let retryAfter: string | null = null;
  let cost: bigint | null = null;
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${key(account)}`,
        'content-type': 'application/json',
        ...(fault === '' ? {} : { 'x-simulator-fault': fault }),
      },
      body,
      signal: AbortSignal.timeout(patience),
    });
    id = response.headers.get('x-request-id');
    retryAfter = response.headers.get('retry-after');
    status = response.status;
    const { usage } = (await response.json()) as ChatUsage;
    if (status === 200 && usage !== undefined) {
      cost =
        BigInt(usage.prompt_tokens) * rates.input + BigInt(usage.completion_tokens) * rates.output;
    }
  } catch {
    // Its node was killed, or took too long.
  }
  const milliseconds = performance.now() - startedAt;
  return { account, node, status, id, cost, retryAfter, startedAt, milliseconds };
}

export interface Crowd {
  readonly nodes: readonly Pick<AttackedNode, 'name' | 'url'>[];
  readonly accounts: readonly Account[];
  /** How many ask at the same time. */
  readonly clients: number;
  /** Asked before each request. */
  readonly continues: () => boolean;
  readonly fault?: string;
}

/** Clients that each ask one request after the other, at any node and for any account. */
export async function askMuch(crowd: Crowd): Promise<Answer[]> {
  const { nodes, accounts, clients, continues, fault } = crowd;
  const answers: Answer[] = [];
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!;
  const one = async (): Promise<void> => {
    while (continues()) {
      const answer = await ask(pick(nodes), pick(accounts), fault === undefined ? {} : { fault });
      answers.push(answer);
      if (answer.status !== 200) await wait(20);
    }
  };
  await Promise.all(Array.from({ length: clients }, one));
  return answers;
}

/** For `continues`: true until this many milliseconds have passed. */
export function forMilliseconds(length: number): () => boolean {
  const end = performance.now() + length;
  return () => performance.now() < end;
}
