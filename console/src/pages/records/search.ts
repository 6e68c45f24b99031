import { readRangeSearch, type RangeSearch } from '../../app/range.ts';
import type { Session } from '../../app/session.ts';

export const actorKinds = ['person', 'command', 'file', 'system'] as const;

/** The tabs, and the permission that each of them needs. */
const tabs = [
  { name: 'books', needs: 'books.read' },
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
}

const text = (value: unknown): string | undefined =>
  typeof value === 'string' && value !== '' ? value.slice(0, 400) : undefined;

export function readRecordsSearch(search: Record<string, unknown>): RecordsSearch {
  const tab = tabs.find(({ name }) => name === search['tab'])?.name;
  const by = actorKinds.find((kind) => kind === search['by']);
  const [actor, action, object] = [search['actor'], search['action'], search['object']].map(text);
  return {
    ...readRangeSearch(search),
    ...(tab !== undefined && { tab }),
    ...(by !== undefined && { by }),
    ...(actor !== undefined && { actor }),
    ...(action !== undefined && { action }),
    ...(object !== undefined && { object }),
    ...(typeof search['q'] === 'string' && search['q'] !== '' && { q: search['q'].slice(0, 64) }),
  };
}
