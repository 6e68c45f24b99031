/** What a route of the console's API may require. */
export const permissions = [
  /** Own requests, sums, keys and sessions. Everybody has it. */
  'own',
  /** Requests and sums of everybody. */
  'usage.read',
  /** The keys of everybody, without their secrets. */
  'keys.read',
  /** Making, replacing and ending the keys of everybody. */
  'keys.write',
  /** The models of all groups. */
  'models.read',
  /** Adding and changing models, prices, aliases and groups. */
  'models.write',
  /** Nodes, database, journal and channels. */
  'health.read',
  /** The settings of channels, without their secrets. */
  'channels.read',
  /** Making, changing and trying channels. */
  'channels.write',
  /** What upstreams said about their failures, and which messages clients got. */
  'errors.read',
  /** Who changed what. */
  'audit.read',
  /** People, teams and their accounts. */
  'users.read',
  /** Making, inviting and changing people and teams. */
  'users.write',
  /** The keys with which programs administer the gateway. */
  'admin-keys.write',
  /** Crediting the accounts of people and teams, and comparing the books with the requests. */
  'credits.write',
] as const;
export type Permission = (typeof permissions)[number];

/** As in `users[].role`. */
export const roles = ['admin', 'operator', 'billing', 'viewer', 'member'] as const;
export type Role = (typeof roles)[number];

const table: Readonly<Record<Role, readonly Permission[]>> = {
  admin: [...permissions],
  operator: [
    'own',
    'usage.read',
    'models.read',
    'models.write',
    'health.read',
    'channels.read',
    'channels.write',
    'errors.read',
  ],
  billing: ['own', 'usage.read', 'models.read', 'users.read', 'credits.write'],
  viewer: [
    'own',
    'usage.read',
    'keys.read',
    'models.read',
    'health.read',
    'channels.read',
    'audit.read',
    'users.read',
  ],
  member: ['own'],
};

/** What a role may do; nothing for one that this release does not know. */
export function permissionsOf(role: string): readonly Permission[] {
  return (roles as readonly string[]).includes(role) ? table[role as Role] : [];
}

/** What people without the permission `keys.write` may do; `console.members` in the file. */
export interface ConsoleMembers {
  /** Whether they may make and change keys. */
  readonly createKeys: boolean;
  /** How many keys each of them may have. */
  readonly maxKeys: number;
  /** Whether they may use the playground. */
  readonly playground: boolean;
}

/** Whether a person with these permissions may use the playground. */
export const mayPlay = (members: ConsoleMembers, permissions: readonly Permission[]): boolean =>
  members.playground || permissions.includes('keys.write');
