import { providerNames, vendorFacts } from '#vendors/index.ts';
import type { Config } from './config.ts';
import type { Environment } from './expand.ts';

/**
 * Settings that the environment provides when the file leaves them out, as the documented `master_key:
 * ${SLUICE_MASTER_KEY:-}` would.
 */
export function environmentDefaults(
  environment: Environment,
): (readonly [section: string, key: string, value: string])[] {
  const found = [
    ['secrets', 'master_key', environment['SLUICE_MASTER_KEY'] ?? ''],
    ['admin', 'password', environment['SLUICE_ADMIN_PASSWORD'] ?? ''],
  ] as const;
  return found.filter(([, , value]) => value !== '');
}

/** Provider keys in the environment, to offer a channel when nothing is configured yet. */
export function providerKeys(environment: Environment): Config['environmentKeys'] {
  return providerNames.flatMap((provider) => {
    const variable = vendorFacts[provider].environmentKey;
    const apiKey = variable === null ? '' : (environment[variable] ?? '').trim();
    return apiKey === '' ? [] : [{ provider, apiKey }];
  });
}
