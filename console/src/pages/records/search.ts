import { readRangeSearch, type RangeSearch } from '../../app/range.ts';
import type { Session } from '../../app/session.ts';

export const taskKinds = ['open', 'ended', 'lost'] as const;
export type TaskKind = (typeof taskKinds)[number];

export const actorKinds = ['person', 'admin_key', 'command', 'file', 'system'] as const;

export const entryKinds = ['opening', 'top-up', 'correction', 'usage'] as const;
export const amountSigns = ['positive', 'negative'] as const;

/** The tabs, and the permission that each of them needs. */
const tabs = [
  { name: 'books', needs: 'users.read' },
  // Everybody has tasks of their own.
  { name: 'tasks', needs: 'own' },
  { name: 'audit', needs: 'audit.read' },
] as const;
export type RecordsTab = (typeof tabs)[number]['name'];

/** The tabs that a person may open, in their order. */
export const tabsFor = ({ permissions }: Session): readonly RecordsTab[] =>
  tabs.filter(({ needs }) => permissions.includes(needs)).map(({ name }) => name);

export interface RecordsSearch extends RangeSearch {
  /** Absent: the first one. */
  readonly tab?: RecordsTab;
  /** Who made a change. */
  readonly actor?: string;
  readonly by?: (typeof actorKinds)[number];
  /** A kind of object, or what is done to one, such as `key.rotate`. */
  readonly action?: string;
  readonly object?: string;
  /** What accounts are searched for. */
  readonly q?: string;
  /** Of entries: whose they are, what they are, which sign they have, and a part of the reason or of who made them. */
  readonly account?: string;
  readonly entry?: (typeof entryKinds)[number];
  readonly amount?: (typeof amountSigns)[number];
  readonly reason?: string;
  /** Which tasks; absent: those that are open. */
  readonly kind?: TaskKind;
  readonly user?: string;
  readonly model?: string;
  /** The task whose course is shown. */
  readonly task?: string;
}

/** Names that filter, as they were typed. */
const names = 'actor action object user model task q account reason'.split(' ');

/** Parts of the address that are one of these words. */
const choices = { by: actorKinds, kind: taskKinds, entry: entryKinds, amount: amountSigns };

export function readRecordsSearch(search: Record<string, unknown>): RecordsSearch {
  const tab = tabs.find(({ name }) => name === search['tab'])?.name;
  const chosen = Object.entries(choices).flatMap(([name, words]) => {
    const word = words.find((each) => each === search[name]);
    return word === undefined ? [] : [[name, word]];
  });
  const given = names.flatMap((name) => {
    const value = search[name];
    return typeof value === 'string' && value !== '' ? [[name, value.slice(0, 400)]] : [];
  });
  return {
    ...readRangeSearch(search),
    ...(tab !== undefined && { tab }),
    ...Object.fromEntries([...chosen, ...given]),
  };
}
