import { protocolNames } from '#canonical/index.ts';
import { providerNames, vendorFacts } from '#vendors/index.ts';
import type { Report, Path } from '../problem.ts';
import {
  describe,
  isAbsent,
  isMapping,
  quote,
  type RawMapping,
  type RawValue,
  textOf,
} from '../scalar.ts';
import { isHeaderName, reservedHeaders } from '../kinds/channel.ts';
import { hasFewStars, isPattern } from '../pattern.ts';
import { checkModelName, type Names } from './names.ts';

/**
 * Checks that the shape of one channel cannot express. Works on the raw entry, so its problems come beside those of the
 * shape.
 */
export function checkChannel(raw: RawMapping, index: number, names: Names, report: Report): void {
  const path = ['channels', index];
  if (isSet(raw['api_key']) && isSet(raw['api_keys'])) {
    report([...path, 'api_keys'], 'either api_key or api_keys', 'both');
  }
  if (needsAddress(textOf(raw['provider'])) && !isSet(raw['base_url'])) {
    report([...path, 'base_url'], 'a URL such as https://api.example.com/v1', 'nothing');
  }
  if (Array.isArray(raw['groups']) && raw['groups'].length === 0) {
    report([...path, 'groups'], 'at least one group', 'an empty list');
  }
  if (Array.isArray(raw['protocols']) && raw['protocols'].length === 0) {
    report([...path, 'protocols'], 'at least one protocol', 'an empty list');
  }
  checkProtocols(raw['protocols'], index, textOf(raw['provider']), report);
  checkServed(raw['models'], index, names, report);
  if (isMapping(raw['headers'])) {
    for (const name of Object.keys(raw['headers'])) {
      if (!isHeaderName(name)) report([...path, 'headers'], 'header names', quote(name));
      else if (reservedHeaders.has(name.toLowerCase())) {
        report(
          [...path, 'headers', name],
          'a header that does not control the connection',
          quote(name),
        );
      }
    }
  }
}

/** The vendor has no address of its own, and does not come with the gateway either. */
function needsAddress(provider: string | null): boolean {
  const name = providerNames.find((providerName) => providerName === provider);
  if (name === undefined) return false;
  const { baseUrl, runsHere } = vendorFacts[name];
  return baseUrl === null && runsHere !== true;
}

/** A pair that nobody serves would fail each request of the channel. */
function checkProtocols(
  protocols: RawValue,
  index: number,
  provider: string | null,
  report: Report,
): void {
  const name = providerNames.find((providerName) => providerName === provider);
  if (name === undefined || !Array.isArray(protocols)) return;
  const { protocols: usual, alsoSpeaks = [] } = vendorFacts[name];
  const spokenProtocols: readonly string[] = [...usual, ...alsoSpeaks];
  protocols.forEach((item: RawValue, at) => {
    const protocol = textOf(item);
    // A misspelt protocol is reported as such.
    if (protocol === null || !isProtocolName(protocol) || spokenProtocols.includes(protocol))
      return;
    report(
      ['channels', index, 'protocols', at],
      `a protocol of ${name} (${spokenProtocols.join(', ')})`,
      describe(item),
    );
  });
}

function isProtocolName(text: string): boolean {
  return (protocolNames as readonly string[]).includes(text);
}

function checkServed(models: RawValue, index: number, names: Names, report: Report): void {
  if (!Array.isArray(models)) return;
  const seenNames = new Set<string>();
  models.forEach((item: RawValue, at) => {
    const path = ['channels', index, 'models', at];
    const isPair = isMapping(item);
    const value = isPair ? item['name'] : item;
    const name = textOf(value);
    if (name !== null && isPattern(name)) checkPattern(item, path, report);
    else checkModelName(value, isPair ? [...path, 'name'] : path, names, report);
    if (name === null) return;
    if (seenNames.has(name)) report(path, 'each model once', `${describe(value)} again`);
    seenNames.add(name);
  });
}

/** A pattern serves models under their own names, so it stands without an upstream's. */
function checkPattern(item: RawValue, path: Path, report: Report): void {
  if (isMapping(item)) report([...path, 'name'], 'an exact name', describe(item['name']));
  else if (!hasFewStars(textOf(item) ?? '')) report(path, 'at most 8 stars', describe(item));
}

/** Set to something other than an empty string: `${KEY:-}` without a value counts as left out. */
function isSet(value: RawValue): boolean {
  return !isAbsent(value) && textOf(value) !== '';
}
