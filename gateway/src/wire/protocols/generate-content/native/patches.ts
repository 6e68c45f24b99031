import { type Edit, replaceValue, splice } from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest } from '../../protocol.ts';
import { resourceName } from '../resource-name.ts';

/**
 * The model is in the path. Where the body names it too, it must be the same one: an upstream that read the body
 * would otherwise serve what was neither authorised nor priced.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const { scan, body } = request;
  const name = resourceName(target.upstreamModel);
  const edits: Edit[] = [];
  for (const path of ['model', 'generateContentRequest.model']) {
    const member = scan.members.get(path);
    if (member === undefined) continue;
    const written: unknown = JSON.parse(body.toString('utf8', member.valueStart, member.valueEnd));
    if (written !== name && written !== target.upstreamModel)
      edits.push(replaceValue(member, name));
  }
  return { body: splice(body, edits), rewrites: [], usageInjected: false };
}
