import type { Session } from '../../app/session.ts';
import type { Permission } from '../../api/client.ts';

/** The tabs with their addresses, and the permission that each of them needs. */
const tabs = [
  { name: 'account', to: '/settings', needs: 'own' },
  { name: 'gateway', to: '/settings/gateway', needs: 'config.read' },
  { name: 'signIn', to: '/settings/sign-in', needs: 'config.read' },
  { name: 'adminKeys', to: '/settings/admin-keys', needs: 'admin-keys.write' },
] as const satisfies readonly {
  name: string;
  to: string;
  needs: Permission;
}[];

/** The tabs that a person may open, in their order. */
export const tabsFor = ({ permissions }: Session) =>
  tabs.filter(({ needs }) => permissions.includes(needs));
