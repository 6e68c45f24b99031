import { type Edit, replaceValue, splice } from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest } from '../../protocol.ts';
import { resourceName } from '../resource-name.ts';

/**
 * The model is in the path. If the body names one too, it must be the same: otherwise an upstream that reads the body
 * would serve a model that was neither authorised nor priced.
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
