import type { NodeHealth } from './source.ts';

/** A channel that some of the live nodes do not use as usual. */
export interface RestingChannel {
  readonly channel: string;
  /** At least so many: a node names only some of its channels. */
  readonly nodes: number;
  /** Of so many live nodes that say how they are. */
  readonly of: number;
}

/** The live nodes that say how they are. */
export function sayingNodes(nodes: readonly NodeHealth[]) {
  return nodes.flatMap(({ live, state, ...node }) =>
    live && state !== null ? [{ ...node, state }] : [],
  );
}

/** By the name of the channel. */
export function restingChannels(nodes: readonly NodeHealth[]): RestingChannel[] {
  const states = sayingNodes(nodes).map(({ state }) => state);
  const counts = new Map<string, number>();
  for (const { channels } of states) {
    for (const { name, state } of channels.first) {
      if (state !== 'works') counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return [...counts]
    .map(([channel, count]) => ({ channel, nodes: count, of: states.length }))
    .toSorted((a, b) => (a.channel < b.channel ? -1 : 1));
}

/** How people name a node: by its machine, its worker and its id. */
export function nameOfNode({ id, state }: Pick<NodeHealth, 'id' | 'state'>): string {
  if (state === null) return id;
  const { host, worker } = state;
  return worker === null ? `${host} ${id}` : `${host} ${worker.of}, worker ${worker.number}`;
}
