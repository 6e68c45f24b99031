import { createClient } from '@redis/client';
import type { openLink, Replies } from '#limits/redis/link.ts';
import { scripts } from '#limits/redis/scripts.ts';
import { redisUrl } from './implementations.ts';
import type { TestClock } from './test-clock.ts';

/** What happens to the batches of one node. */
export type Fault =
  | 'none'
  /** They never arrive. */
  | 'cut'
  /** They are taken, and the replies are lost. */
  | 'mute'
  /** They are taken when the link recovers, long after the node has stopped waiting. */
  | 'late';

/** Milliseconds. */
export const timeoutMs = 50;

type Client = Awaited<ReturnType<typeof connectForTest>>;

/**
 * The link of one node to a real Redis, by the clock of the test. A fault is found out by the next batch, like a
 * time-out, but in no time.
 */
export class FaultyLink {
  readonly #client: Client;
  readonly #clock: TestClock;
  readonly #late: (() => Promise<unknown>)[] = [];
  #enter: () => Promise<void> = async () => {};
  #fault: Fault = 'none';
  #isUp = false;
  /** The process, or its machine, stands still. */
  isStopped = false;
  /** Batches that were not taken, or whose reply was lost. */
  failures = 0;
  /** Replies by which the node knows that Redis knows it. */
  heard = 0;
  /** Set while it is being entered again because data were lost. */
  #mending: Promise<void> = Promise.resolve();

  constructor(client: Client, clock: TestClock) {
    this.#client = client;
    this.#clock = clock;
  }

  readonly open: typeof openLink = async ({ enter }) => {
    this.#enter = () => enter(this.#run);
    await this.#tryToEnter();
    const isUp = () => this.isUp;
    return {
      get isUp() {
        return isUp();
      },
      get isLost() {
        return !isUp();
      },
      run: this.#run,
      send: () => Promise.reject(new Error('not allowed')),
      reenter: () => {
        this.#isUp = false;
        this.#mending = this.#tryToEnter();
      },
      close: async () => {},
    };
  };

  get isUp(): boolean {
    return this.#isUp && !this.isStopped;
  }

  begin(fault: Fault): void {
    this.#fault = fault;
  }

  /** The fault is over. What was on its way arrives, before the node comes back or behind it. */
  async recover(isBefore: boolean): Promise<void> {
    this.#fault = 'none';
    const late = this.#late.splice(0);
    if (isBefore) for (const run of late) await run();
    await this.settled();
    if (!this.#isUp) await this.#tryToEnter();
    if (!isBefore) for (const run of late) await run();
  }

  async settled(): Promise<void> {
    await this.#mending;
  }

  async #tryToEnter(): Promise<void> {
    try {
      await this.#enter();
      this.#isUp = true;
    } catch {
      this.#isUp = false;
    }
  }

  readonly #run: Parameters<Parameters<typeof openLink>[0]['enter']>[0] = async (
    script,
    keys,
    values,
  ) => {
    const fault = this.#fault;
    const take = async (): Promise<Replies> => {
      const timed = [...values];
      // Redis's clock, at the moment when it takes the batch.
      timed[4] = String(this.#clock.wall * 1_000);
      return this.#client.eval(script.source, {
        keys: [...keys],
        arguments: timed,
      }) as Promise<Replies>;
    };
    if (fault === 'none') {
      const replies = await take();
      if (script === scripts.batch && replies[0] !== 'done') this.failures += 1;
      else this.heard += 1;
      return replies;
    }
    this.failures += 1;
    if (fault === 'mute') await take();
    if (fault === 'late') this.#late.push(take);
    this.#isUp = false;
    throw new Error('Redis timed out');
  };
}

export async function connectForTest() {
  return createClient({ url: redisUrl }).connect();
}
