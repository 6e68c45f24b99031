import type { Logger } from '#observability/index.ts';
import type { Rates, RatesServer } from '../rates.ts';
import { createShare } from '../memory/share.ts';
import { createAsking } from './ask.ts';
import { Denials } from './denials.ts';
import { type Link, linkRules, openLink } from './link.ts';
import { createRemoteRates, slotRules } from './remote-rates.ts';
import { readSettings } from './settings.ts';

/** How often every node checks whether Redis still knows what it has counted. Milliseconds. */
const lookEveryMs = 2_000;

export interface RedisRatesOptions {
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
  /** Live nodes, including this one; rates are divided among them while Redis is lost. */
  readonly liveNodes: () => number;
  readonly log: Pick<Logger, 'info' | 'error'>;
  /** The clock for counting in microseconds, for tests; absent: Redis's own. */
  readonly serverTime?: () => number;
  /** Milliseconds until a command counts as failed, for tests that do not depend on time; absent: 50. */
  readonly commandTimeoutMs?: number;
  /** For tests of faults. */
  readonly open?: typeof openLink;
}

/**
 * Counts for several nodes: each step is atomic in Redis, by Redis's clock. Waits for the first connection attempt. If
 * that fails, and whenever Redis is lost, this node enforces its share of every rate.
 */
export async function createRedisRates(options: RedisRatesOptions): Promise<Rates> {
  const { url, prefix = 'sluice:', now, monotonic, log, serverTime = null } = options;
  const { random, open = openLink, commandTimeoutMs = linkRules.commandTimeoutMs } = options;
  const share = createShare({ monotonic, liveNodes: options.liveNodes });
  let link: Link | null = null;
  let run: Link['run'] = () => Promise.reject(new Error('not open'));
  let settings: RatesServer | null = null;
  const isUp = (): boolean => link !== null && link.isUp;

  const { ask, enter } = createAsking({
    run: (...args) => run(...args),
    prefix,
    monotonic,
    serverTime,
    commandTimeoutMs,
    onLost: () => link?.reenter(),
  });
  const denials = new Denials(monotonic);
  const rates = createRemoteRates({ ask, isUp, prefix, share, denials, now, monotonic });

  const readServer = async (send: Link['send']): Promise<void> => {
    settings = await readSettings(send);
  };

  link = await open({
    url,
    random,
    log,
    commandTimeoutMs,
    async enter(entered) {
      run = entered;
      const state = await enter();
      if (state === 'lost') {
        log.error('Redis has lost what it counted; each rate may admit its limit once more', null, {
          component: 'counting',
        });
      }
      await rates.catchUp();
    },
  });
  const { send } = link;
  await readServer(send);

  const looking = setInterval(() => {
    if (isUp()) ask('look', [], []).catch(() => {});
  }, lookEveryMs).unref();
  // A slot outlives two renewals, so one may fail.
  const renewal = setInterval(() => {
    if (!isUp()) return;
    rates.renew().catch(() => {});
    void readServer(send);
  }, slotRules.renewEveryMs).unref();

  return {
    checkRates: rates.checkRates,
    leave: rates.leave,
    get degraded() {
      if (link.isLost) return ['redis'];
      const { eviction = 'unknown' } = settings ?? {};
      if (eviction === 'unknown' || eviction === 'noeviction') return [];
      return [`redis evicts keys (${eviction}): rates may be forgotten`];
    },
    get server() {
      return settings;
    },
    async close() {
      clearInterval(looking);
      clearInterval(renewal);
      await rates.close();
      await link.close();
    },
  };
}
