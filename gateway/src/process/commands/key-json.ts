import type { StoredKey } from '#identity/index.ts';

/** A key as every command prints it with `--json`. */
export function keyToJson(key: StoredKey) {
  return {
    id: key.id,
    name: key.name,
    user: key.user,
    team: key.team,
    group: key.group,
    created_at: new Date(key.createdAt).toISOString(),
  };
}
