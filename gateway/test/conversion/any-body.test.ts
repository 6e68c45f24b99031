import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { lossNames, type TextProtocolName } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textCodecs, type WireRequest } from '#protocols/index.ts';
import { absence, recordings } from '../recordings/recordings.ts';
import { convert, protocolPairs, readWire, textProtocolNames } from '../support/convert.ts';
import { runs } from '../support/runs.ts';
import { changed, changes, wireRequests } from '../support/wire-requests.ts';

/** Null for what the endpoint refuses already. */
function read(client: TextProtocolName, json: unknown): WireRequest | null {
  try {
    return readWire(client, json);
  } catch (error) {
    expect(error).toBeInstanceOf(GatewayError);
    return null;
  }
}

/** A body, or a refusal that names a field; a loss only by a known name. */
async function assertAnswered(
  client: TextProtocolName,
  upstream: TextProtocolName,
  json: unknown,
): Promise<void> {
  const request = read(client, json);
  if (request === null) return;
  try {
    const hosts = new Set(['vision', 'tools', 'reasoning', 'sampling', 'hosted_tools']);
    const target = { protocol: upstream, capabilities: hosts };
    const { body, losses } = await convert({ client, request, target });
    expect(JSON.parse(String(body))).toBeTypeOf('object');
    const own = ownNames(textCodecs[client].decodeRequest(request));
    const odd = losses.map(({ what }) => what).filter((what) => !isKnown(what) && !own.has(what));
    expect(odd).toEqual([]);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.entry.status).toBe(400);
    expect(error.param).toBeTruthy();
  }
}

function isKnown(what: string): boolean {
  return Object.hasOwn(lossNames, what) || what.startsWith('tools.');
}

/** Names of all that only the client's protocol knows, as the header writes them. */
function ownNames(value: unknown, found = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return found;
  const { ifForeign, name } = value as Readonly<Record<string, unknown>>;
  if (ifForeign !== undefined) {
    expect(['drop', 'approximate', 'ignore', 'refuse']).toContain(ifForeign);
    found.add(
      String(name)
        .slice(0, 64)
        .replace(/[^\w.[\]-]/g, '_'),
    );
  }
  for (const inner of Object.values(value)) ownNames(inner, found);
  return found;
}

describe.each(textProtocolNames)('any body of %s', (client) => {
  const others = textProtocolNames.filter((name) => name !== client);

  it('becomes a body for every upstream', async () => {
    for (const upstream of others) {
      const request = readWire(client, wireRequests[client]);
      const { body } = await convert({ client, request, target: { protocol: upstream } });
      expect(body.length).toBeGreaterThan(100);
    }
  });

  it('becomes a body or a refusal that names a field when changed at random', async () => {
    await fc.assert(
      fc.asyncProperty(changes, async (list) => {
        const json = changed(wireRequests[client], list);
        for (const upstream of others) await assertAnswered(client, upstream, json);
      }),
      { numRuns: runs(150, 400) },
    );
  });

  it('becomes a body or a refusal that names a field when it is noise', async () => {
    const fields = Object.keys(wireRequests[client]);
    const noise = fc.dictionary(fc.constantFrom(...fields), fc.jsonValue({ maxDepth: 4 }));
    await fc.assert(
      fc.asyncProperty(noise, async (json) => {
        const named = { ...json, model: 'm' };
        for (const upstream of others) await assertAnswered(client, upstream, named);
      }),
      { numRuns: runs(50, 200) },
    );
  });
});

describe.skipIf(absence !== null)(`recorded requests, changed ${absence ?? ''}`, () => {
  const all = recordings.filter(({ request }) => request !== null);

  it.each(protocolPairs)('$client to $upstream', async ({ client, upstream }) => {
    const asked = all.filter(
      ({ protocol, request }) => protocol === client && JSON.stringify(request).length < 20_000,
    );
    const some = fc.constantFrom(...asked.map(({ request }) => request));
    await fc.assert(
      fc.asyncProperty(some, changes, async (request, list) => {
        await assertAnswered(client, upstream, changed(request, list));
      }),
      { numRuns: runs(15, 60) },
    );
  });
});
