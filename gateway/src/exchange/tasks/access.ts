import type { Channel } from '#catalogue/index.ts';
import type { Secrets } from '#database/index.ts';
import { vendorFacts, type ProviderName } from '#vendors/index.ts';
import type { AcceptedTask } from './tasks.ts';

/** How the upstream of a task is reached: as at its submit, whatever becomes of the channel. */
export interface Access {
  readonly provider: ProviderName;
  readonly baseUrl: string;
  /** The channel's own, by lower-case name. */
  readonly headers: Readonly<Record<string, string>>;
  readonly secret: string | null;
  /** As the channel's. Absent in rows of older versions: the environment decides. */
  readonly proxy?: string | null;
}

const contextOf = (task: string): string => `task:${task}:access`;

/** For the row of the task; encrypted with the master key. */
export function sealAccess(
  secrets: Pick<Secrets, 'seal'>,
  task: string,
  { channel, secret }: Pick<AcceptedTask, 'channel' | 'secret'>,
): string {
  const { provider, baseUrl, proxy } = channel;
  const entries = Object.entries(channel.headers);
  const headers = Object.fromEntries(entries.map(([name, value]) => [name.toLowerCase(), value]));
  return secrets.seal(
    JSON.stringify({ provider, baseUrl, headers, secret, proxy } satisfies Access),
    contextOf(task),
  );
}

/** @throws Error if the master key differs. */
export function openAccess(
  secrets: Pick<Secrets, 'open'>,
  task: string,
  sealedAccess: string,
): Access {
  return JSON.parse(secrets.open(sealedAccess, contextOf(task))) as Access;
}

/** A vendor that runs here has another address after each start. */
export function presentAccess(access: Access, channel: Channel | undefined): Access {
  const isMoved = channel?.provider === access.provider && runsHere(access.provider);
  return isMoved ? { ...access, baseUrl: channel.baseUrl } : access;
}

const runsHere = (provider: ProviderName): boolean => vendorFacts[provider].runsHere === true;
