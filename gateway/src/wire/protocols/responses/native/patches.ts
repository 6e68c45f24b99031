import { replaceValue, splice } from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest } from '../../protocol.ts';

/** Sets the upstream's model name, and changes nothing else. */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const model = request.scan.members.get('model');
  const edits =
    model === undefined || request.model === target.upstreamModel
      ? []
      : [replaceValue(model, target.upstreamModel)];
  return { body: splice(request.body, edits), rewrites: [], usageInjected: false };
}
