import { enoughBits, seemingBits, type Config } from '#config/index.ts';
import type { Logger } from '#observability/index.ts';

/** Names of declared keys whose secrets look typed. They are valid. */
export function weakKeys({ declared }: Config): string[] {
  return (declared?.keys ?? [])
    .filter(({ secret }) => secret !== null && seemingBits(secret) < enoughBits)
    .map(({ name }) => name);
}

/** Logs the names at a start or a reload. */
export function logWeakKeys(config: Config, log: Pick<Logger, 'warn'>): void {
  const names = weakKeys(config);
  if (names.length === 0) return;
  log.warn('secrets of declared keys look guessable (less than 128 random bits)', {
    component: 'config',
    count: names.length,
    detail: names.slice(0, 10).join(', '),
  });
}
