import { queryOptions } from '@tanstack/react-query';
import { read, type Result } from '../../api/client.ts';
import { inOrder } from '../../pieces/order.ts';
import type { Order, Sortable, StateChoice } from './search.ts';

export type Channel = Result<'listChannels'>['data'][number];

/** Milliseconds after which the list is read anew; the figures of a day change slowly. */
export const readEvery = 20_000;

/** All channels; other pages read them too. */
export const channelsQuery = queryOptions({
  queryKey: ['channels'],
  queryFn: ({ signal }) => read<'listChannels'>('/channels', {}, signal),
  refetchInterval: readEvery,
});

/** What channels are ordered by. */
const valueOf: Readonly<Record<Sortable, (channel: Channel) => number | string | null>> = {
  channel: ({ name }) => name,
  attempts: ({ recent }) => recent?.attempts ?? null,
  success: ({ recent }) => recent?.success ?? null,
  firstToken: ({ recent }) => recent?.first_token_ms ?? null,
  priority: ({ priority }) => priority,
  weight: ({ weight }) => weight,
};

/** Whether the highest is what is read first. */
export const isHighFirst = (column: Sortable): boolean =>
  column !== 'channel' && column !== 'success';

/** What has to be looked at first has the lowest number. */
const urgency = { fails: 0, unsteady: 1, answers: 2, unasked: 3 } as const;

/** In the order that was chosen; without one, what fails comes first, then what is asked most. */
export function ordered(channels: readonly Channel[], order: Order | undefined) {
  if (order !== undefined) return inOrder(channels, order, valueOf);
  const rank = ({ enabled, verdict }: Channel) =>
    enabled ? urgency[verdict] : urgency.unasked + 1;
  const attempts = ({ recent }: Channel) => recent?.attempts ?? 0;
  return channels.toSorted((a, b) => rank(a) - rank(b) || attempts(b) - attempts(a));
}

/** Whether this node asks the channel, or one of its credentials, less than it might. */
export const isPaused = ({ enabled, state, credentials }: Channel): boolean =>
  enabled &&
  state !== null &&
  (state !== 'works' || credentials.cooling + credentials.disabled > 0);

/** Whether a channel belongs to the chosen part of the list. */
export const belongsTo: Readonly<Record<StateChoice, (channel: Channel) => boolean>> = {
  failing: ({ enabled, verdict }) => enabled && (verdict === 'fails' || verdict === 'unsteady'),
  resting: ({ enabled, state }) => enabled && state !== null && state !== 'works',
  disabled: ({ enabled }) => !enabled,
};

/** Whether a name of the channel, of its provider, a group or a model contains the text. */
export function contains({ name, provider, groups, models }: Channel, text: string): boolean {
  const wanted = text.trim().toLowerCase();
  return [name, provider, ...groups, ...models].some((each) => each.toLowerCase().includes(wanted));
}

/** The enabled channels that share requests with this one: of its priority, for a group and a model of its own. */
export function equalsOf(channel: Channel, all: readonly Channel[]): readonly Channel[] {
  const shares = (mine: readonly string[], others: readonly string[]) =>
    mine.some((each) => others.includes(each));
  return all.filter(
    (other) =>
      other.id !== channel.id &&
      other.enabled &&
      other.priority === channel.priority &&
      shares(channel.groups, other.groups) &&
      shares(channel.models, other.models),
  );
}
