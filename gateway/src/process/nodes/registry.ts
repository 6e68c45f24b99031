import type { OpenDatabase } from '#database/index.ts';
import type { Logger } from '#observability/index.ts';
import { lastStart, otherNodes, removeNode, signLife, type SeenNode } from './nodes.repository.ts';

/** Milliseconds. */
export const nodeRules = Object.freeze({
  beatEvery: 10_000,
  /** After a beat that the database did not take. */
  beatAgainAfter: 1_000,
  goneAfter: 30_000,
  /** What a node that will not come back leaves in the table; longer when it left records behind. */
  forgetEmptyAfter: 86_400_000,
  forgetAfter: 7 * 86_400_000,
});

/** After so many beats in turn a twin is believed in for as many more: about as long as any node that went silent. */
const mostMeetings = 4;

/** A node that went silent while usage records were in its journal: nobody else can have them. */
export interface MissingNode {
  readonly id: string;
  readonly journalDepth: number;
}

/** Who serves, as this node sees it. Reading costs nothing: it is what the last beat found. */
export interface NodeRegistry {
  /** This node included. While the database is away: the last number that was known. */
  live(): number;
  readonly missing: readonly MissingNode[];
  /** The database took the last sign of life, which is a write. True before the first one. */
  readonly writes: boolean;
  /** From now on this node is one of them. Resolves after the first beat, whether or not the database was there. */
  join(journal: { readonly depth: number }): Promise<void>;
  /** Says goodbye; call it after the journal has been closed. Never throws. */
  close(): Promise<void>;
}

export interface NodeRegistryOptions {
  readonly database: OpenDatabase;
  /** See `readNodeId`. */
  readonly id: string;
  readonly log: Pick<Logger, 'info' | 'warn'>;
  /** Unix milliseconds. */
  readonly now?: () => number;
  /** Milliseconds of a clock that does not step. */
  readonly monotonic?: () => number;
  readonly beatEvery?: number;
}

/** Knows of itself alone until `join`. */
export function createNodeRegistry(options: NodeRegistryOptions): NodeRegistry {
  const { database, id, log, beatEvery = nodeRules.beatEvery } = options;
  const { now = Date.now, monotonic = () => performance.now() } = options;
  const startedAt = now();
  let journal: { readonly depth: number } | null = null;
  let live = 1;
  let missing: readonly MissingNode[] = [];
  let timer: NodeJS.Timeout | null = null;
  let beating: Promise<void> = Promise.resolve();
  /** The last beat that the database took; and until when others may be silent because it was away. */
  let lastBeat = monotonic();
  let excusedUntil = 0;
  /** Beats before which a node of the same name has given signs of life, less those before which none had. */
  let meetings = 0;
  let hasTwin = false;
  /** This process has given a sign of life; before that the last one is of the process before. */
  let isKnown = false;
  let writes = true;

  async function beat(): Promise<void> {
    await lookForTwin();
    await signLife(database, { id, startedAt, journalDepth: journal?.depth ?? 0 });
    isKnown = true;
    const others = await otherNodes(database, id);
    const time = monotonic();
    if (time - lastBeat >= nodeRules.goneAfter) excusedUntil = time + nodeRules.goneAfter;
    lastBeat = time;
    const named = others.filter((node) => node.silentFor < nodeRules.goneAfter).length;
    const found = 1 + (hasTwin ? 1 : 0) + named;
    const isExcused = time < excusedUntil;
    live = isExcused ? Math.max(live, found) : found;
    const silent = others.filter((node) => node.silentFor >= nodeRules.goneAfter);
    if (!isExcused) report(silent);
    for (const node of silent) await forgetInTime(node);
  }

  /**
   * A copy of a data folder has the name of its original: two nodes, which together must not do more than two. Once is
   * none, as the process before may say goodbye when this one has said hello; and beats are not quite in turn.
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
    const left = silent.filter(({ journalDepth }) => journalDepth > 0);
    for (const node of left) {
      if (missing.some((known) => known.id === node.id)) continue;
      log.warn(
        'a node is unreachable and its journal holds usage records: restart it on its data folder, or adopt that folder',
        { component: 'nodes', detail: node.id, count: node.journalDepth },
      );
    }
    for (const known of missing) {
      if (left.some((node) => node.id === known.id)) continue;
      log.info('an unreachable node is back, or its journal was adopted', {
        component: 'nodes',
        detail: known.id,
      });
    }
    missing = left.map(({ id: node, journalDepth }) => ({ id: node, journalDepth }));
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

  /** Without the database everything stays as it was. */
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

  return {
    live: () => live,
    get missing() {
      return missing;
    },
    get writes() {
      return writes;
    },
    async join(own) {
      journal = own;
      await beatQuietly();
      again();
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
          : signLife(database, { id, startedAt, journalDepth: depth });
      // The others find out by themselves.
      await goodbye.catch(() => {});
    },
  };
}
