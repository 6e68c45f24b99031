import { type Edit, insertMember, replaceValue, splice } from '#json/index.ts';
import type { PatchedRequest, PatchTarget, WireRequest } from '../../protocol.ts';
import { isAbsent, isRecord } from '../../shared/values.ts';
import { echoReasoning } from './echo-reasoning.ts';

/** How `x-sluice-rewrites` names edits of the reasoning in the history. docs/vendors.md explains them. */
const rewriteOf = Object.freeze({ require: 'e1', strip: 'e2' });

/**
 * Sets the upstream's model name, requests usage on every stream, because billing needs it, and edits the reasoning of
 * earlier turns.
 */
export function patchRequest(request: WireRequest, target: PatchTarget): PatchedRequest {
  const edits: Edit[] = [];
  const model = request.scan.members.get('model');
  if (model !== undefined && request.model !== target.upstreamModel) {
    edits.push(replaceValue(model, target.upstreamModel));
  }
  const usage = request.stream ? askForUsage(request) : null;
  if (usage !== null) edits.push(usage);
  const echo = target.echo === undefined ? [] : echoReasoning(request, target.echo);
  const rewrites = echo.length === 0 ? [] : [rewriteOf[target.echo!.rule]];
  return {
    body: splice(request.body, [...edits, ...echo]),
    rewrites,
    usageInjected: usage !== null,
  };
}

/** Null if the client itself asked for usage. */
function askForUsage({ json, scan }: WireRequest): Edit | null {
  const options = json['stream_options'];
  const wanted = { include_usage: true };
  if (isRecord(options)) {
    if (options['include_usage'] === true) return null;
    const member = scan.members.get('stream_options.include_usage');
    if (member !== undefined) return replaceValue(member, true);
    const object = scan.objects.get('stream_options');
    return object === undefined ? null : insertMember(object, 'include_usage', true);
  }
  // Anything but an object or null is wrong. The upstream will refuse it.
  if (!isAbsent(options)) return null;
  const member = scan.members.get('stream_options');
  if (member !== undefined) return replaceValue(member, wanted);
  const root = scan.objects.get('');
  return root === undefined ? null : insertMember(root, 'stream_options', wanted);
}
