import { providerNames, vendorFacts } from '#vendors/index.ts';
import type { Config, ProxySettings } from './config.ts';
import type { Environment } from './expand.ts';
import type { ConfigProblem } from './problem.ts';
import { expectedProxy, isAddressRange, parseProxyUrl } from './network.ts';

/**
 * Settings that the environment provides when the file leaves them out, as the documented `master_key:
 * ${SLUICE_MASTER_KEY:-}` would.
 */
export function environmentDefaults(
  environment: Environment,
): (readonly [section: string, key: string, value: string, variable: string])[] {
  const variables = [
    ['secrets', 'master_key', 'SLUICE_MASTER_KEY'],
    ['admin', 'password', 'SLUICE_ADMIN_PASSWORD'],
  ] as const;
  return variables
    .map(([section, key, name]) => [section, key, environment[name] ?? '', name] as const)
    .filter(([, , value]) => value !== '');
}

/** Provider keys in the environment, to offer a channel when nothing is configured yet. */
export function providerKeys(environment: Environment): Config['environmentKeys'] {
  return providerNames.flatMap((provider) => {
    const variable = vendorFacts[provider].environmentKey;
    const apiKey = variable === null ? '' : (environment[variable] ?? '').trim();
    return apiKey === '' ? [] : [{ provider, apiKey }];
  });
}

/** Proxies in the environment, in the names that other programs know; those in lower case count first. Adds to `problems`. */
export function readProxies(environment: Environment, problems: ConfigProblem[]): ProxySettings {
  const report = (path: string, expected: string, got: string): void =>
    void problems.push({ file: null, line: null, path, expected, got });
  const valueOf = (name: string): readonly [name: string, value: string] => {
    const lower = environment[name.toLowerCase()] ?? '';
    return lower === '' ? [name, environment[name] ?? ''] : [name.toLowerCase(), lower];
  };
  const read = (variable: string): string | null => {
    const [name, value] = valueOf(variable);
    if (value.trim() === '') return null;
    const url = parseProxyUrl(value.trim());
    if (url === null) report(name, expectedProxy, 'something else');
    return url;
  };
  const [noProxy, exceptions] = valueOf('NO_PROXY');
  const direct = exceptions.split(/[\s,]+/).filter((entry) => entry !== '');
  for (const entry of direct) {
    if (!isException(entry)) report(noProxy, 'hosts, domains and address ranges', 'another entry');
  }
  const http = read('HTTP_PROXY');
  return { http, https: read('HTTPS_PROXY') ?? http, direct };
}

/** A range with a wrong prefix would be reached through the proxy without a word. */
function isException(entry: string): boolean {
  return !entry.includes('/') || isAddressRange(entry);
}
