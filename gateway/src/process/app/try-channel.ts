import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createSpool } from '#bodies/index.ts';
import type { StoredChannel } from '#catalogue/index.ts';
import type { Config } from '#config/index.ts';
import { createDatabaseBreaker, type OpenDatabase, type Secrets } from '#database/index.ts';
import type { Money } from '#limits/index.ts';
import type { ChannelTrial } from '#relay/index.ts';
import { clock } from './clock.ts';
import { Closing } from './closing.ts';
import { createTrialParts, createTrials } from './relaying.ts';
import { openConversationMemory } from './remembering.ts';

export interface TryOptions {
  readonly config: Config;
  readonly database: OpenDatabase;
  readonly secrets: Secrets;
  /** Receives what is a defect of the gateway. */
  readonly onDefect: (error: unknown) => void;
}

/**
 * Tries a channel as the console does, in a process that serves nobody.
 * @param model null: the first that is named exactly
 */
export async function tryChannelAlone(
  { config, database, secrets, onDefect }: TryOptions,
  channel: StoredChannel,
  model: string | null,
): ReturnType<ChannelTrial> {
  const closing = new Closing();
  const directory = mkdtempSync(path.join(tmpdir(), 'sluice-trial-'));
  closing.add({ close: () => rmSync(directory, { recursive: true, force: true }) });
  const logger = {
    droppedLines: 0,
    info() {},
    warn() {},
    request() {},
    error: (_: string, error: unknown) => onDefect(error),
  };
  try {
    // Nothing is to be remembered, in Redis least of all.
    const redis = { ...config.redis, url: null };
    const parts = createTrialParts(
      {
        config,
        database,
        secrets,
        logger,
        breaker: createDatabaseBreaker(),
        money: noMoney,
        remembered: await openConversationMemory({ ...config, redis }, secrets, closing),
        revisions: { isOutdated: false },
        spool: createSpool({
          directory,
          limit: config.limits.spool,
          memory: 0,
          monotonic: clock.monotonic,
          onProblem: onDefect,
          onRecovery: () => {},
        }),
        onUnexpectedError: onDefect,
        mediaFetch: undefined,
        bodyWeights: undefined,
      },
      closing,
    );
    const { tryChannel } = createTrials({ config, logger, simulatorUrl: () => null }, parts);
    return await tryChannel(channel, model);
  } finally {
    await closing.closeAll();
  }
}

function costsNothing(): never {
  throw new Error('a trial costs nothing');
}

const noMoney: Money = {
  hold: costsNothing,
  announceCharge: costsNothing,
  commitHold: costsNothing,
  taskBeginning: costsNothing,
  taskBegun: costsNothing,
  taskEnding: costsNothing,
  taskEnded: costsNothing,
  read: costsNothing,
  isAway: false,
  hasFailed: false,
  unleasedAmount: 0n,
  hasLeases: false,
  close: async () => {},
};
