import type { OpenDatabase } from '#database/index.ts';
import { freedLives, type Freed } from '#leases/index.ts';
import type { Logger } from '#observability/index.ts';
import {
  lastStart,
  lostRecords,
  otherNodes,
  removeNode,
  signLife,
  type LostRecords,
  type SeenNode,
} from './nodes.repository.ts';

/** Milliseconds. */
export const nodeRules = Object.freeze({
  beatEvery: 10_000,
  /** After a heartbeat that failed. */
  beatAgainAfter: 1_000,
  goneAfter: 30_000,
  /** How long the table keeps a node that does not come back; longer if it left records behind. */
  forgetEmptyAfter: 86_400_000,
  forgetAfter: 7 * 86_400_000,
});

/**
 * After this many alternating heartbeats, a twin is assumed for as many more: about as long as any silent node counts
 * as live.
 */
const mostMeetings = 4;

/** An unreachable node with usage records in its journal, which no other node can read. */
export interface MissingNode {
  readonly id: string;
  readonly journalDepth: number;
}

/** The live nodes as this node sees them. Reading is free: it returns the result of the last heartbeat. */
export interface NodeRegistry {
  /** Includes this node. While the database is unreachable: the last known number. */
  live(): number;
  readonly missing: readonly MissingNode[];
  /** What journals of nodes have lost. */
  readonly lost: readonly LostRecords[];
  /** Processes that were silent for too long, and what they may have charged without a record in the database. */
  readonly freed: readonly Freed[];
  /** Whether the database accepted the last heartbeat, which is a write. True before the first one. */
  readonly writes: boolean;
  /** Joins the live nodes. Resolves after the first heartbeat, even if the database was unreachable. */
  join(journal: { readonly depth: number }): Promise<void>;
  /** From now on, each heartbeat says how this node is, beginning with one that is sent at once. */
  describe(readState: () => object): void;
  /** Sends a heartbeat now, which also looks at what the other nodes say. */
  refresh(): Promise<void>;
  /** Signs off; call it after the journal was closed. Never throws. */
  close(): Promise<void>;
}

export interface NodeRegistryOptions {
  readonly database: OpenDatabase;
  /** See `readNodeId`. */
  readonly id: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a monotonic clock. */
  readonly monotonic?: () => number;
  readonly beatEvery?: number | undefined;
}

/** Knows only of itself until `join`. */
export function createNodeRegistry(options: NodeRegistryOptions): NodeRegistry {
  const { database, id, log, beatEvery = nodeRules.beatEvery } = options;
  const { now = Date.now, monotonic = () => performance.now() } = options;
  const startedAt = now();
  let journal: { readonly depth: number } | null = null;
  let readState: (() => object) | null = null;
  let live = 1;
  let missing: readonly MissingNode[] = [];
  let lost: readonly LostRecords[] = [];
  let freed: readonly Freed[] = [];
  let timer: NodeJS.Timeout | null = null;
  let beating: Promise<void> = Promise.resolve();
  /** The last successful heartbeat, and until when the silence of others may be due to the database. */
  let lastBeat = monotonic();
  let excusedUntil = 0;
  /** Heartbeats that were preceded by one of another node with the same id, minus those that were not. */
  let meetings = 0;
  let hasTwin = false;
  /** Whether this process has sent a heartbeat; before that, the last one is of an earlier process. */
  let isKnown = false;
  let writes = true;

  async function beat(): Promise<void> {
    await lookForTwin();
    const state = readState === null ? null : JSON.stringify(readState());
    await signLife(database, { id, startedAt, journalDepth: journal?.depth ?? 0, state });
    isKnown = true;
    lost = await lostRecords(database);
    freed = await freedLives(database, now() - nodeRules.forgetAfter);
    const others = await otherNodes(database, id);
    const time = monotonic();
    if (time - lastBeat >= nodeRules.goneAfter) excusedUntil = time + nodeRules.goneAfter;
    lastBeat = time;
    const liveOthers = others.filter((node) => node.silentFor < nodeRules.goneAfter).length;
    const nodeCount = 1 + (hasTwin ? 1 : 0) + liveOthers;
    const isExcused = time < excusedUntil;
    live = isExcused ? Math.max(live, nodeCount) : nodeCount;
    const silent = others.filter((node) => node.silentFor >= nodeRules.goneAfter);
    if (!isExcused) report(silent);
    for (const node of silent) await forgetInTime(node);
  }

  /**
   * A copy of a data folder has the same node id as the original: two nodes, which together must not use more than two
   * shares. A single meeting is no evidence, because an earlier process may sign off after this one has started, and
   * heartbeats do not alternate exactly.
   */
  async function lookForTwin(): Promise<void> {
    const start = isKnown ? await lastStart(database, id) : null;
    const isMet = start !== null && start !== startedAt;
    meetings = isMet ? Math.min(meetings + 1, mostMeetings) : Math.max(meetings - 1, 0);
    if (meetings === 0) hasTwin = false;
    if (meetings < 2 || hasTwin) return;
    hasTwin = true;
    log.warn(
      'another running node has the same id: its data folder is a copy; give it a data folder of its own, or delete node.id in the copy',
      { component: 'nodes', detail: id },
    );
  }

  function report(silent: readonly SeenNode[]): void {
    const nodesWithRecords = silent.filter(({ journalDepth }) => journalDepth > 0);
    for (const node of nodesWithRecords) {
      if (missing.some((missingNode) => missingNode.id === node.id)) continue;
      log.warn(
        'a node is unreachable and its journal holds usage records: restart it on its data folder, or adopt that folder',
        { component: 'nodes', detail: node.id, count: node.journalDepth },
      );
    }
    for (const missingNode of missing) {
      if (nodesWithRecords.some((node) => node.id === missingNode.id)) continue;
      log.info('an unreachable node is back, or its journal was adopted', {
        component: 'nodes',
        detail: missingNode.id,
      });
    }
    missing = nodesWithRecords.map(({ id: node, journalDepth }) => ({ id: node, journalDepth }));
  }

  async function forgetInTime(node: SeenNode): Promise<void> {
    const { forgetAfter, forgetEmptyAfter } = nodeRules;
    if (node.silentFor < (node.journalDepth > 0 ? forgetAfter : forgetEmptyAfter)) return;
    await removeNode(database, node.id);
    if (node.journalDepth === 0) return;
    log.warn('no longer waiting for an unreachable node that left usage records behind', {
      component: 'nodes',
      detail: node.id,
      count: node.journalDepth,
    });
  }

  /** Without the database everything stays as it is. */
  function beatQuietly(): Promise<void> {
    beating = beat().then(
      () => {
        writes = true;
      },
      () => {
        writes = false;
      },
    );
    return beating;
  }

  function again(): void {
    timer = setTimeout(
      () => {
        void beatQuietly().finally(() => {
          if (timer !== null) again();
        });
      },
      writes ? beatEvery : Math.min(beatEvery, nodeRules.beatAgainAfter),
    );
    timer.unref();
  }

  const registry: NodeRegistry = {
    live: () => live,
    get missing() {
      return missing;
    },
    get lost() {
      return lost;
    },
    get freed() {
      return freed;
    },
    get writes() {
      return writes;
    },
    async join(own) {
      journal = own;
      await beatQuietly();
      again();
    },
    describe(read) {
      readState = read;
      void registry.refresh();
    },
    async refresh() {
      await beating;
      if (timer !== null) await beatQuietly();
    },
    async close() {
      if (timer !== null) clearTimeout(timer);
      timer = null;
      if (journal === null) return;
      await beating;
      const { depth } = journal;
      const goodbye =
        depth === 0
          ? removeNode(database, id)
          : signLife(database, { id, startedAt, journalDepth: depth, state: null });
      // The other nodes notice by themselves.
      await goodbye.catch(() => {});
    },
  };
  return registry;
}
