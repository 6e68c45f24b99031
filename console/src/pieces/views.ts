import { defaultParseSearch, defaultStringifySearch } from '@tanstack/react-router';
import type { Session } from '../app/session.ts';

type View = NonNullable<Session['preferences']['views']>[number];
export type ViewPage = NonNullable<View['page']>;

/** What is open beside a list belongs to no view of it, and the zone is that of the person who looks. */
const apart = new Set(['open', 'task', 'make', 'tz']);

/** What a kept view consists of: its filter, its range, and how it is shown. */
export function viewText(search: object): string {
  const kept = Object.entries(search).filter(([name]) => !apart.has(name));
  return defaultStringifySearch(Object.fromEntries(kept)).slice(1);
}

/** Where a view leads; the page leaves out what it cannot read. */
export const viewLink = ({ page = 'requests', search }: View) => ({
  to: `/${page}` as const,
  search: defaultParseSearch(search) as never,
});
