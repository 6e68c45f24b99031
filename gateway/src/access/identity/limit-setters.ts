/** The settings of a key that only whoever set them, or somebody above, may loosen. */
export const limitNames = [
  'models',
  'quota',
  'expiresAt',
  'ips',
  'rpm',
  'rph',
  'maxConcurrency',
  'enabled',
] as const;
export type LimitName = (typeof limitNames)[number];

/** From the one with the most to say. */
export const ranks = ['admin', 'owner', 'member'] as const;
/** Who sets a limit: an administrator, the owner of the key's team, or a person for keys of their own. */
export type Rank = (typeof ranks)[number];

/** Who set each limit. One that is not named here was set by the file, a command or an administrator, or is not set. */
export type LimitSetters = Readonly<Partial<Record<LimitName, Rank>>>;

export function readLimitSetters(text: string | null): LimitSetters {
  return text === null ? {} : (JSON.parse(text) as LimitSetters);
}
