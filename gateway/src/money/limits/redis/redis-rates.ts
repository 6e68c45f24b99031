import { randomUUID } from 'node:crypto';
import type { Logger } from '#observability/index.ts';
import type { Rates } from '../rates.ts';
import { createAsk, type Ask } from './ask.ts';
import { Denials } from './denials.ts';
import { type Link, linkRules, openLink } from './link.ts';
import { createRemoteRates, renewEveryMs } from './remote-rates.ts';
import { scripts } from './scripts.ts';
import { createShare } from './share.ts';

export interface RedisRatesOptions {
  /** `redis://…` or `rediss://…`. */
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix?: string;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  /** Live nodes, including this one; limits are divided among them while Redis is lost. */
  readonly liveNodes: () => number;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** The clock for counting in microseconds, for tests; absent: Redis's own. */
  readonly serverTime?: () => number;
  /** Milliseconds until a command counts as failed, for tests that do not depend on time; absent: 50. */
  readonly commandTimeoutMs?: number;
}

/**
 * Counts for several nodes: each step is atomic in Redis, by Redis's clock. Waits for the first connection attempt. If
 * that fails, and whenever Redis is lost, this node enforces its share of every limit.
 */
export async function createRedisRates(options: RedisRatesOptions): Promise<Rates> {
  const { url, prefix = 'sluice:', monotonic, random, log, serverTime = null } = options;
  const share = createShare({ monotonic, liveNodes: options.liveNodes });
  const denials = new Denials(monotonic);
  const epochKey = `${prefix}epoch`;
  let epoch = '';
  let link: Link | null = null;

  const askBy = (run: Link['run']): Ask =>
    createAsk({
      run,
      epochKey,
      epoch: () => epoch,
      serverTime,
      onEmptied: () => link?.reenter(),
    });
  const isUp = (): boolean => link !== null && link.isUp;
  const ask = askBy((script, keys, values) =>
    link === null ? Promise.reject(new Error('not open')) : link.run(script, keys, values),
  );
  const rates = createRemoteRates({ ask, isUp, prefix, share, denials, monotonic });

  link = await openLink({
    url,
    random,
    log,
    commandTimeoutMs: options.commandTimeoutMs ?? linkRules.commandTimeoutMs,
    async enter(run) {
      const keys = [epochKey, `${prefix}probe`];
      const [found] = await run(scripts.enter, keys, [randomUUID()]);
      epoch = String(found);
      await rates.renew(askBy(run));
    },
  });

  // A slot outlives two renewals, so one may fail.
  const renewal = setInterval(() => {
    if (isUp()) rates.renew(ask).catch(() => {});
  }, renewEveryMs).unref();

  return {
    checkRates: rates.checkRates,
    leave: rates.leave,
    get degraded() {
      return !isUp();
    },
    async close() {
      clearInterval(renewal);
      await rates.close();
      await link.close();
    },
  };
}
