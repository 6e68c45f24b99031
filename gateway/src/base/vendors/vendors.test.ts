import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import type { TextProtocolName } from '#canonical/index.ts';
import { applyQuirks, textCodecs, textProtocols } from '#protocols/index.ts';
import { collectEvents } from '#test/support/collect-events.ts';
import { readEvents, runTap } from '#test/recordings/tap-run.ts';
import { classifyFailure } from './classify.ts';
import type { Quirk } from './quirks.ts';
import { quirksFor } from './vendor.ts';
import { everyVendor, isCalled, providerNames, vendorFacts } from './registry.ts';
import { pathOf, type Classification, type UpstreamTarget } from './vendor.ts';

/*
 * Tests for every vendor in the registry. They fail until the vendor's folder has these files:
 *
 *   fixtures/requests.json          where each kind of request goes, and how it signs in
 *   fixtures/failures.json          what a refusal, a wrong key, a throttle and an empty account look like, and mean
 *   fixtures/<protocol>.stream.txt  a response in each text protocol that it speaks, recorded or composed
 */

interface Requests {
  readonly baseUrl: string;
  /** The headers for the credential `secret`, in the vendor's first protocol. */
  readonly credential: Readonly<Record<string, string>>;
  /** By protocol and operation, with ` stream` where one is asked for, ` edit` where images are edited; of a model named `a/b`. */
  readonly urls: Readonly<Record<string, string>>;
}

interface Failure {
  readonly status: number;
  readonly body: unknown;
  readonly means: string;
}

const failures = ['refusal', 'wrongKey', 'throttle', 'emptyAccount'] as const;
type Failures = Readonly<Record<(typeof failures)[number], Failure>> & { readonly source: string };

const here = import.meta.dirname;
const model = 'a/b';

function fixture(vendor: string, name: string): string {
  const file = path.join(here, vendor, 'fixtures', name);
  if (!existsSync(file)) expect.fail(`${vendor} has no fixtures/${name}`);
  return readFileSync(file, 'utf8');
}

const called = everyVendor.filter(isCalled);
const isText = (protocol: string): protocol is TextProtocolName => protocol in textProtocols;

test('every folder is a vendor of the registry, and every vendor has a folder', () => {
  const folders = readdirSync(here, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  const names = everyVendor.map(({ name }) => name);
  expect(folders.map(({ name }) => name).toSorted()).toEqual(names.toSorted());
  for (const name of providerNames) expect(vendorFacts[name].name).toBe(name);
});

describe.each(everyVendor)('$name', (facts) => {
  test('has an address that ends in its version path, or leaves it to the channel', () => {
    const { baseUrl, versionPath } = facts;
    if (baseUrl !== null) expect(new URL(baseUrl).href).toBe(baseUrl);
    if (baseUrl !== null) expect(baseUrl.endsWith(versionPath)).toBe(true);
    expect(facts.protocols.length).toBeGreaterThan(0);
    if (facts.environmentKey !== null) expect(facts.environmentKey).toMatch(/^[A-Z0-9_]+_KEY$/);
  });
});

describe.each(called)('$name', (vendor) => {
  const { protocols } = vendor;
  const textOnes = protocols.filter(isText);

  test('has an address for every request in each of its protocols', () => {
    const { baseUrl, urls } = JSON.parse(fixture(vendor.name, 'requests.json')) as Requests;
    expect(vendor.baseUrl ?? baseUrl).toBe(baseUrl);
    const asked = Object.keys(urls).map((kind) => {
      const [protocol, operation, more] = kind.split(' ');
      const [stream, isEdit] = [more === 'stream', more === 'edit'];
      return { protocol, operation, stream, isEdit, model } as UpstreamTarget;
    });
    expect(asked.map((target) => baseUrl + pathOf(vendor, target))).toEqual(Object.values(urls));
    const kinds = [
      ...textOnes.flatMap((protocol) => [`${protocol} generate`, `${protocol} generate stream`]),
      ...vendor.countsTokensIn.map((protocol) => `${protocol} count-tokens`),
      ...(vendor.compacts === true ? ['responses compact'] : []),
      ...(protocols.includes('images') && vendor.lacksEdits !== true
        ? ['images generate edit']
        : []),
    ];
    expect(Object.keys(urls)).toEqual(expect.arrayContaining(kinds));
    expect(asked.map(({ protocol }) => protocol)).toEqual(expect.arrayContaining([...protocols]));
  });

  test('signs in with its own headers, in lower case', () => {
    const { credential } = JSON.parse(fixture(vendor.name, 'requests.json')) as Requests;
    const headers = vendor.headers('secret', vendor.protocols[0]!);
    expect(headers).toEqual(credential);
    expect(JSON.stringify(headers)).toContain('secret');
    expect(Object.keys(headers).every((name) => name === name.toLowerCase())).toBe(true);
    // Without a credential it must not be asked with a broken one.
    expect(JSON.stringify(vendor.headers(null, vendor.protocols[0]!))).not.toContain('null');
  });

  test.each(failures)('classifies its own error: %s', (kind) => {
    const cases = JSON.parse(fixture(vendor.name, 'failures.json')) as Failures;
    const failure = cases[kind];
    if (failure === undefined)
      expect.fail(`fixtures/failures.json of ${vendor.name} has no ${kind}`);
    const { status, body, means } = failure;
    const classification = classifyFailure({ status, body, retryAfter: null });
    expect(words(classification)).toBe(means);
    expect(classification).toMatchObject(meanings[kind]);
    expect(cases.source).not.toBe('');
  });

  test('an error without details is never blamed on the client', () => {
    for (const status of [500, 502, 503, 529, null]) {
      expect(classifyFailure({ status, body: null, retryAfter: null }).kind).toBe('failover');
    }
  });

  test.each(textOnes)('its stream is read to a complete end with usage: %s', (protocol) => {
    const text = fixture(vendor.name, `${protocol}.stream.txt`);
    const { tap } = runTap(protocol, text);
    expect(tap.failure).toBeNull();
    expect(tap.finished).toBe(true);
    const { input = 0, output = 0 } = tap.usage?.tokens ?? {};
    expect([input > 0, output > 0]).toEqual([true, true]);
    const decoder = textCodecs[protocol].createStreamDecoder();
    const events: Parameters<Parameters<typeof decoder.push>[1]>[0][] = [];
    for (const event of readEvents([Buffer.from(text)])) {
      decoder.push(event, (each) => void events.push(each));
    }
    decoder.end((each) => void events.push(each));
    const [candidate] = collectEvents(events);
    expect(candidate?.blocks.length).toBeGreaterThan(0);
    expect(candidate?.finish.reason).not.toBe('other');
  });

  test('declares traits and quirks as plain data that threads can receive', () => {
    const traits = vendor.traitsOf?.(model, vendor.baseUrl ?? '');
    expect(structuredClone(traits)).toEqual(traits);
    for (const protocol of textOnes) {
      const quirks = quirksFor(vendor, protocol, model);
      expect(structuredClone(quirks)).toEqual(quirks);
    }
  });
});

describe('quirks', () => {
  const all = called.flatMap((vendor) => (vendor.quirks ?? []).map((quirk) => ({ vendor, quirk })));

  test('have ids of their own, from 1 on', () => {
    const numbers = all.map(({ quirk }) => Number(quirk.id.slice(1)));
    expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers.map((_, index) => index + 1));
  });

  test('are explained, each with its vendor and its member', () => {
    const page = readFileSync(path.join(here, '../../../../docs/vendors.md'), 'utf8');
    for (const { vendor, quirk } of all) {
      const row = page.split('\n').find((line) => line.startsWith(`| \`${quirk.id}\``)) ?? '';
      const member = placeOf(quirk.edit);
      expect(row.toLowerCase()).toContain(vendor.name);
      expect(row).toContain(`\`${member}\``);
    }
  });

  test.each(all)('$quirk.id leaves nothing to edit in a request', ({ quirk: { id, edit } }) => {
    const value = 'value' in edit ? edit.value : { required: true };
    const json = { model, ...requestWith(placeOf(edit).split('.'), value) };
    const patched = { body: Buffer.from(JSON.stringify(json)), rewrites: [], usageInjected: false };
    const after = applyQuirks(patched, [{ id, edit }], json);
    expect(after.rewrites).toEqual([id]);
    const edited = JSON.parse(after.body.toString()) as typeof json;
    expect(applyQuirks({ ...after, rewrites: [] }, [{ id, edit }], edited).rewrites).toEqual([]);
  });
});

function placeOf(edit: Quirk['edit']): string {
  if ('drop' in edit) return edit.drop;
  if ('rename' in edit) return edit.rename;
  return 'replace' in edit ? edit.replace : edit.modernize;
}

/** A request with the value at the path. An object that is wrong for every vendor is also a schema that is too old. */
function requestWith([step = '', ...rest]: readonly string[], last: unknown): object {
  const value = rest.length === 0 ? last : requestWith(rest, last);
  return step.endsWith('[]') ? { [step.slice(0, -2)]: [value] } : { [step]: value };
}

function words(classification: Classification): string {
  return classification.kind === 'client'
    ? classification.error
    : `${classification.as} ${classification.blame}`;
}

/** What each of them has to be for any vendor. */
const meanings: Readonly<Record<(typeof failures)[number], object>> = {
  refusal: { kind: 'client' },
  wrongKey: { kind: 'failover', blame: 'credential' },
  throttle: { kind: 'failover', blame: 'quota', coolDownSeconds: expect.any(Number) },
  emptyAccount: { kind: 'failover', blame: 'credential' },
};
