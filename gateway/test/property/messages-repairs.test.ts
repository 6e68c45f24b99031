import { openBudget } from '#json/index.ts';
import { isDeepStrictEqual } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { validateMessages } from '../../../simulator/src/messages/validate.ts';
import { GatewayError } from '#errors/index.ts';
import type { PatchedRequest } from '#protocols/index.ts';
import { messages } from '#protocols/messages/index.ts';
import { factsOf, isSuspect, repair } from '#protocols/messages/native/repairs/index.ts';
import { faulty, models, signer, wellFormed } from '../support/messages-requests.ts';
import { runs } from '../support/runs.ts';
import { jsonText } from './json-text.ts';

const versions = fc.constantFrom('2023-06-01', '2026-10-21');

function patch(
  body: Buffer,
  version: string,
  maxOutputTokens: number | null = null,
): PatchedRequest {
  const path = { operation: 'generate', model: null, stream: null } as const;
  const request = messages.readRequest(messages.openRequest(body, path));
  return messages.patchRequest(request, {
    upstreamModel: request.model,
    maxOutputTokens,
    headers: { 'anthropic-version': version },
  });
}

/** Null for a request that is refused, and then it is said what is wrong with it. */
function mend(body: Buffer, version: string, limit: number | null): PatchedRequest | null {
  try {
    return patch(body, version, limit);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.entry.status).toBe(400);
    expect(error.param).toMatch(/^(messages|tools|tool_choice|output_config)\b/);
    return null;
  }
}

/** By the simulator's validator, which knows nothing of the gateway. */
function accept(body: Buffer, version: string): void {
  const json = JSON.parse(body.toString('utf8')) as { model: string; messages: { role: string }[] };
  validateMessages(json, json.model, { 'anthropic-version': version }, signer);
  if (json.model.includes('claude')) return;
  const roles = json.messages.map(({ role }) => role);
  expect(roles.every((role, index) => role !== roles[index - 1])).toBe(true);
}

/** With one member of a request that has faults. */
const almostWellFormed = fc.tuple(wellFormed, faulty, fc.nat(20)).map(([good, bad, at]) => {
  const names = Object.keys(bad);
  const name = names[at % names.length] ?? 'model';
  return { ...good, [name]: bad[name] };
});

describe('repairs of messages requests', () => {
  it('leave nothing that an upstream refuses, and find nothing the second time', () => {
    const tries = runs(400, 1500);
    let mended = 0;
    fc.assert(
      fc.property(
        faulty.chain((value) => fc.tuple(fc.constant(value), jsonText(value))),
        versions,
        fc.constantFrom(null, 3000),
        ([, text], version, limit) => {
          const patched = mend(Buffer.from(text), version, limit);
          if (patched === null) return;
          mended += 1;
          accept(patched.body, version);
          const again = patch(patched.body, version, limit);
          expect(again.rewrites).toEqual([]);
          expect(again.body).toBe(patched.body);
        },
      ),
      { numRuns: tries },
    );
    expect(mended).toBeGreaterThan(tries / 3);
  });

  it('name a rule exactly if they change something', () => {
    fc.assert(
      fc.property(faulty, versions, (value, version) => {
        const body = Buffer.from(JSON.stringify(value));
        const patched = mend(body, version, null);
        if (patched === null) return;
        const isSame = isDeepStrictEqual(
          JSON.parse(patched.body.toString('utf8')),
          JSON.parse(body.toString('utf8')),
        );
        expect(patched.rewrites.length === 0).toBe(isSame);
        if (isSame) expect(patched.body).toBe(body);
        const numbers = patched.rewrites.map((id) => Number(id.slice(1)));
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
      }),
      { numRuns: runs(300, 1000) },
    );
  });

  it('leave valid requests alone, in any spelling', () => {
    fc.assert(
      fc.property(
        wellFormed.chain((value) => fc.tuple(fc.constant(value), jsonText(value))),
        ([value, text]) => {
          const body = Buffer.from(text);
          accept(body, '2023-06-01');
          expect(patch(body, '2023-06-01')).toMatchObject({ rewrites: [] });
          expect(patch(body, '2023-06-01').body).toBe(body);
          expect(value['model']).toBe('claude-opus-4-6');
        },
      ),
      { numRuns: runs(150, 500) },
    );
  });

  it('are tried whenever one of them would do something', () => {
    const tries = runs(900, 3000);
    let unsuspected = 0;
    fc.assert(
      fc.property(fc.oneof(faulty, almostWellFormed), versions, (value, version) => {
        const context = {
          model: factsOf(String(value['model'])),
          version,
          betas: '',
          isCount: false,
          budget: openBudget(1_048_576),
        };
        if (isSuspect(value, value['max_tokens'], context)) return;
        unsuspected += 1;
        const body = Buffer.from(JSON.stringify(value));
        expect(repair(body, value, {}, context)).toMatchObject({ edits: [], ids: [] });
      }),
      { numRuns: tries },
    );
    expect(unsuspected).toBeGreaterThan(tries / 30);
  });

  it('know every model of the tests', () => {
    for (const model of models) {
      const body = Buffer.from(
        JSON.stringify({ model, max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }),
      );
      expect(patch(body, '2023-06-01').body).toBe(body);
    }
  });
});
