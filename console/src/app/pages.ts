import type { Permission } from '../api/client.ts';
import type { IconName } from '../pieces/icon.tsx';
import type { Session } from './session.ts';

const all = [
  { to: '/', name: 'overview', icon: 'overview', letter: 'o' },
  { to: '/requests', name: 'requests', icon: 'requests', letter: 'r' },
  { to: '/usage', name: 'usage', icon: 'usage', letter: 'u' },
  { to: '/channels', name: 'channels', icon: 'channels', letter: 'c', needs: 'channels.read' },
  { to: '/models', name: 'models', icon: 'models', letter: 'm' },
  { to: '/keys', name: 'keys', icon: 'keys', letter: 'k' },
  { to: '/playground', name: 'playground', icon: 'playground', letter: 'p' },
  { to: '/health', name: 'health', icon: 'health', letter: 'h', needs: 'health.read' },
  { to: '/settings', name: 'settings', icon: 'settings', letter: 's' },
] as const satisfies readonly {
  to: string;
  name: string;
  icon: IconName;
  /** Behind `g`, it opens the page. */
  letter: string;
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
