import type { Permission } from './contract/permissions.ts';

/** What people without the permission `keys.write` may do; `console.members` in the file. */
export interface ConsoleMembers {
  /** Whether they may make and change keys. */
  readonly createKeys: boolean;
  /** How many keys each of them may have. */
  readonly maxKeys: number;
  /** Whether they may use the playground. */
  readonly playground: boolean;
}

/** Whether somebody with these permissions may use the playground. */
export const mayPlay = (members: ConsoleMembers, permissions: readonly Permission[]): boolean =>
  members.playground || permissions.includes('keys.write');

/** Where the file declares an object; null: it does not. `path` is such as `keys[2]`. */
export type PlaceInFile = (
  list: 'keys',
  name: string,
) => { readonly file: string; readonly path: string } | null;
