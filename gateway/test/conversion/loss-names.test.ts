import { describe, expect, it } from 'vitest';
import { lossNames } from '#canonical/index.ts';
import { GatewayError } from '#errors/index.ts';
import { textCodecs } from '#protocols/index.ts';
import { convert, protocolPairs, readWire, textProtocolNames } from '../support/convert.ts';
import { wireRequests } from '../support/wire-requests.ts';

/** The types and `any-body.test.ts` check that only these are reported. */
const names = Object.keys(lossNames);

describe.each(textProtocolNames)('%s’s own names', (client) => {
  const { fieldName } = textCodecs[client];

  it('every possible loss has the name of a member', () => {
    for (const name of names) expect(fieldName(name)).toMatch(/^[a-z][A-Za-z_]*(\.[A-Za-z_]+)*$/);
  });

  it('the names are those of its own requests', () => {
    const json = wireRequests[client];
    const members = new Set(Object.keys(json));
    const own = names.map((name) => fieldName(name).split('.')[0] ?? '');
    const found = own.filter((name) => members.has(name));
    expect(found.length).toBeGreaterThan(names.length / 4);
  });

  it('an unknown name stays as it is', () => {
    expect(fieldName('constructor')).toBe('constructor');
  });
});

describe.each(protocolPairs)('$client to $upstream', ({ client, upstream }) => {
  it('a strict key gets the member of each loss', async () => {
    const request = readWire(client, wireRequests[client]);
    const target = { protocol: upstream } as const;
    const { losses } = await convert({ client, request, target });
    expect(losses.length).toBeGreaterThan(3);
    const refusal = await convert({ client, request, target, strict: true }).catch(
      (error: unknown) => error,
    );
    expect(refusal).toBeInstanceOf(GatewayError);
    expect((refusal as GatewayError).param).toBe(
      textCodecs[client].fieldName(losses[0]?.what ?? ''),
    );
  });
});
