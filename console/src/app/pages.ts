import type { Permission } from '../api/client.ts';
import type { IconName } from '../pieces/icon.tsx';
import type { Session } from './session.ts';

/** The rail's groups: look, run, people, records, in the order of how often their pages are opened. */
export const groups = ['look', 'run', 'people', 'records', 'own'] as const;

const all = [
  { to: '/', name: 'overview', icon: 'overview', letter: 'o', group: 'look' },
  { to: '/requests', name: 'requests', icon: 'requests', letter: 'r', group: 'look' },
  { to: '/usage', name: 'usage', icon: 'usage', letter: 'u', group: 'look' },
  {
    to: '/health',
    name: 'health',
    icon: 'health',
    letter: 'h',
    group: 'look',
    needs: 'health.read',
  },
  {
    to: '/channels',
    name: 'channels',
    icon: 'channels',
    letter: 'c',
    group: 'run',
    needs: 'channels.read',
  },
  { to: '/models', name: 'models', icon: 'models', letter: 'm', group: 'run' },
  { to: '/playground', name: 'playground', icon: 'playground', letter: 'p', group: 'run' },
  { to: '/keys', name: 'keys', icon: 'keys', letter: 'k', group: 'people' },
  {
    to: '/records',
    name: 'records',
    icon: 'records',
    letter: 'b',
    group: 'records',
    needs: 'usage.read',
  },
  { to: '/settings', name: 'settings', icon: 'settings', letter: 's', group: 'own' },
] as const satisfies readonly {
  to: string;
  name: string;
  icon: IconName;
  /** Behind `g`, it opens the page. */
  letter: string;
  group: (typeof groups)[number];
  /** Who lacks this permission does not see the page. */
  needs?: Permission;
}[];

export type Page = (typeof all)[number];

/** The pages that a person may use, in the rail's order. */
export function pagesFor({ permissions, playground }: Session): readonly Page[] {
  return all.filter(
    (page) =>
      (page.name !== 'playground' || playground) &&
      (!('needs' in page) || permissions.includes(page.needs)),
  );
}
