import { type Edit, insertMember, removeMember, replaceValue, splice } from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest } from '../../protocol.ts';
import type { JsonRecord } from '../../shared/values.ts';
import { factsOf, isSuspect, repair, type RepairContext } from './repairs/index.ts';

/** The value of `max_tokens`, which this protocol requires, if the catalogue does not know the model's limit. */
const defaultMaxTokens = 8192;

/**
 * Sets the upstream's model name and applies the declared rewrites (docs/repairs.md): `b1` drops temperature, which
 * current models refuse; `b2` fills in max_tokens or cuts it to the model's limit; the repairs follow. A request without
 * faults is spliced by the earlier scan. Only one with faults is taken apart.
 * @throws GatewayError `invalid_value` for a fault that cannot be repaired without guessing.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const { body, json } = request;
  const context = contextOf(request, target);
  const changes: Record<string, unknown> = {};
  const rewrites: string[] = [];
  if (request.model !== target.upstreamModel) changes['model'] = target.upstreamModel;
  if (json['temperature'] !== undefined) {
    changes['temperature'] = undefined;
    rewrites.push('b1');
  }
  const maxTokens = context.isCount ? request.maxOutputTokens : boundOutput(request, target);
  if (maxTokens !== request.maxOutputTokens) {
    changes['max_tokens'] = maxTokens;
    rewrites.push('b2');
  }
  if (!isSuspect(json, maxTokens ?? undefined, context)) {
    return { body: splice(body, memberEdits(request, changes)), rewrites, usageInjected: false };
  }
  const { edits, ids, toolNames } = repair(body, json, changes, context);
  const all = [...new Set([...rewrites, ...ids])].toSorted((a, b) => numberOf(a) - numberOf(b));
  const patched = { body: splice(body, edits), rewrites: all, usageInjected: false };
  return toolNames.size === 0 ? patched : { ...patched, toolNames };
}

const numberOf = (id: string): number => Number(id.slice(1));

function boundOutput(
  { maxOutputTokens }: WireRequest,
  { maxOutputTokens: limit }: PatchTarget,
): number {
  const requestedTokens = maxOutputTokens ?? limit ?? defaultMaxTokens;
  return limit === null ? requestedTokens : Math.min(requestedTokens, limit);
}

function contextOf(
  { path, budget }: WireRequest,
  { upstreamModel, headers }: PatchTarget,
): RepairContext {
  return {
    model: factsOf(upstreamModel),
    version: textOf(headers?.['anthropic-version']),
    betas: textOf(headers?.['anthropic-beta']),
    isCount: path.operation === 'count-tokens',
    budget: { ...budget },
  };
}

function textOf(header: string | readonly string[] | undefined): string {
  return typeof header === 'string' ? header : '';
}

function memberEdits({ scan, body }: WireRequest, changes: JsonRecord): Edit[] {
  return Object.entries(changes).flatMap(([name, value]) => {
    const member = scan.members.get(name);
    if (member === undefined) {
      const root = scan.objects.get('');
      return root === undefined ? [] : [insertMember(root, name, value)];
    }
    return [value === undefined ? removeMember(body, member) : replaceValue(member, value)];
  });
}
