import { isRecord, type JsonRecord } from '../../../shared/values.ts';
import { member } from '../../fields.ts';
import { addArguments } from '../partial-call.ts';

/**
 * The parts of a model's turn as one whole response would have them: a client that asked for arguments value by value
 * returns the pieces of a call as they came, in several parts.
 */
export function joinPartialCalls(parts: readonly JsonRecord[]): readonly JsonRecord[] {
  if (!parts.some((part) => callOf(part)?.['partialArgs'] !== undefined)) return parts;
  const joined: JsonRecord[] = [];
  /** The arguments of the call that is still to be continued. */
  let open: Record<string, unknown> | null = null;
  for (const part of parts) {
    const call = callOf(part);
    if (call === null) {
      joined.push(part);
      continue;
    }
    const { partialArgs, willContinue, args, ...bare } = call;
    const continues = open !== null && member(call, 'name') === undefined;
    if (!continues) {
      open = isRecord(args) ? { ...args } : {};
      joined.push({ ...part, functionCall: { ...bare, args: open } });
    }
    addArguments(open!, partialArgs);
    if (willContinue !== true) open = null;
  }
  return joined;
}

/**
 * The calls that the provider ran itself: their results are in the same turn. No other protocol has a place for them,
 * and a call without a result after it would be refused.
 */
export function ranByProvider(parts: readonly JsonRecord[]): ReadonlySet<JsonRecord> {
  const run = new Set<JsonRecord>();
  const waiting: JsonRecord[] = [];
  for (const part of parts) {
    if (callOf(part) !== null) waiting.push(part);
    const result = member(part, 'functionResponse');
    if (!isRecord(result)) continue;
    const at = waiting.findIndex((each) => isAnswered(callOf(each)!, result));
    if (at >= 0) run.add(waiting.splice(at, 1)[0]!);
  }
  return run;
}

/** By id if both have one, else by name. */
function isAnswered(call: JsonRecord, result: JsonRecord): boolean {
  const [own, other] = [member(call, 'id'), member(result, 'id')];
  if (own !== undefined && other !== undefined) return own === other;
  return member(call, 'name') === member(result, 'name');
}

function callOf(part: JsonRecord): JsonRecord | null {
  const call = member(part, 'functionCall');
  return isRecord(call) ? call : null;
}
