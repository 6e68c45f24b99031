import { randomUUID } from 'node:crypto';
import type { Logger } from '#observability/index.ts';
import type { Counters, SpentSource } from '../counters.ts';
import { createSpentLookup } from '../spent-lookup.ts';
import { createAsk, type Ask } from './ask.ts';
import { Denials } from './denials.ts';
import { type Link, linkRules, openLink } from './link.ts';
import { createRemoteMoney } from './money.ts';
import { createRemoteRates, renewEveryMs } from './rates.ts';
import { scripts } from './scripts.ts';
import { createShare } from './share.ts';

export interface RedisCountersOptions {
  /** `redis://…` or `rediss://…`. */
  readonly url: string;
  /** The prefix of every key. */
  readonly prefix?: string;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic: () => number;
  /** From 0 to 1. */
  readonly random: () => number;
  readonly spent: SpentSource;
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
export async function createRedisCounters(options: RedisCountersOptions): Promise<Counters> {
  const { url, prefix = 'sluice:', now, monotonic, random, log, serverTime = null } = options;
  const lookUp = createSpentLookup(options.spent);
  const share = createShare({ monotonic, liveNodes: options.liveNodes, lookUp });
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
  const money = createRemoteMoney({
    ask,
    isUp,
    prefix,
    now,
    monotonic,
    lookUp,
    share,
    denials,
  });

  link = await openLink({
    url,
    random,
    log,
    commandTimeoutMs: options.commandTimeoutMs ?? linkRules.commandTimeoutMs,
    onLost: () => share.begin(),
    async enter(run) {
      const time = serverTime === null ? '' : String(serverTime());
      const keys = [epochKey, `${prefix}probe`];
      const [found] = await run(scripts.enter, keys, [randomUUID(), time]);
      const emptied = epoch !== found;
      epoch = String(found);
      const ask = askBy(run);
      await money.recover(ask, emptied);
      await rates.renew(ask);
    },
  });

  // A slot outlives two renewals, so one may fail.
  const renewal = setInterval(() => {
    if (isUp()) rates.renew(ask).catch(() => {});
  }, renewEveryMs).unref();

  return {
    checkRates: rates.checkRates,
    leave: rates.leave,
    hold: money.hold,
    charge: () => null,
    commitHold: money.commitHold,
    read: money.read,
    get degraded() {
      return !isUp();
    },
    async close() {
      clearInterval(renewal);
      await money.close();
      await link.close();
    },
  };
}
