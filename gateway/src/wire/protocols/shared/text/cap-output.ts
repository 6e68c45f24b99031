import type { TextProtocolName } from '#canonical/index.ts';
import {
  type Edit,
  insertMember,
  type KeyedRange,
  membersAt,
  objectStart,
  replaceValue,
  skipSpace,
  splice,
} from '#json/index.ts';
import type { OutputCap, PatchedRequest } from '../../protocol.ts';
import { textFacts } from '../../text-facts.ts';
import { isRecord, recordAt, type JsonRecord } from '../values.ts';

/** The id of the rewrite. */
const rewrite = 'm1';

/**
 * Lowers the output limit of a request that is ready to be sent: the members that it has, else the one that this upstream
 * takes. All other bytes stay as they are. A request with a thinking budget that the limit would not exceed stays as it
 * is, because upstreams refuse that.
 * @throws GatewayError `too_complex`
 */
export function capOutput(
  patched: PatchedRequest,
  protocol: TextProtocolName,
  cap: OutputCap,
): PatchedRequest {
  const { body } = patched;
  const start = objectStart(body, 0);
  if (start === null) return patched;
  if (thinkingBudget(JSON.parse(body.toString('utf8'))) >= cap.tokens) return patched;
  const edits = editsFor(body, start, protocol, cap);
  if (edits.length === 0) return patched;
  return { ...patched, body: splice(body, edits), rewrites: [...patched.rewrites, rewrite] };
}

function editsFor(body: Buffer, start: number, protocol: TextProtocolName, cap: OutputCap): Edit[] {
  const { names, holders } = textFacts[protocol].outputLimit;
  const member = names.includes(cap.chatMember) ? cap.chatMember : names[0]!;
  const root = membersAt(body, start);
  if (holders.length === 0) return limitIn(body, start, root, names, member, cap);
  const holder = root.findLast(({ key }) => holders.includes(key));
  const inner = holder === undefined ? null : objectStart(body, holder.valueStart);
  if (inner !== null) return limitIn(body, inner, membersAt(body, inner), names, member, cap);
  if (isNeedless(cap)) return [];
  const value = { [member]: cap.tokens };
  if (holder !== undefined) return [replaceValue(holder, value)];
  return [insertMember(objectAt(body, start), holders[0]!, value)];
}

/** What to change in the object that holds the limit. */
function limitIn(
  body: Buffer,
  start: number,
  members: readonly KeyedRange[],
  names: readonly string[],
  member: string,
  cap: OutputCap,
): Edit[] {
  const writtenLimits = members
    .filter(({ key }) => names.includes(key))
    .map((range) => ({ range, limit: limitAt(body, range) }));
  const set = writtenLimits.filter(({ limit }) => limit !== null);
  if (set.length > 0) {
    return set
      .filter(({ limit }) => limit! > cap.tokens)
      .map(({ range }) => replaceValue(range, cap.tokens));
  }
  if (isNeedless(cap)) return [];
  const [absent] = writtenLimits;
  if (absent !== undefined) return [replaceValue(absent.range, cap.tokens)];
  return [insertMember(objectAt(body, start), member, cap.tokens)];
}

/** Without a limit, this upstream stops earlier anyway. */
function isNeedless({ tokens, usual }: OutputCap): boolean {
  return usual !== null && usual <= tokens;
}

function limitAt(body: Buffer, { valueStart, valueEnd }: KeyedRange): number | null {
  const value: unknown = JSON.parse(body.toString('utf8', valueStart, valueEnd));
  return typeof value === 'number' ? value : null;
}

function objectAt(body: Buffer, start: number) {
  const first = skipSpace(body, start + 1);
  return { start: start + 1, empty: body[first] === 0x7d };
}

/** The largest thinking budget that a request of any protocol names; 0 without one. */
function thinkingBudget(json: unknown): number {
  if (!isRecord(json)) return 0;
  const config = { ...recordAt(json, 'generation_config'), ...recordAt(json, 'generationConfig') };
  const google = recordAt(recordAt(json, 'extra_body'), 'google');
  const budgets = [
    json['thinking_budget'],
    recordAt(json, 'thinking')['budget_tokens'],
    recordAt(json, 'reasoning')['max_tokens'],
    ...[config, google].flatMap(googleBudgets),
  ];
  return Math.max(0, ...budgets.filter((budget) => typeof budget === 'number'));
}

function googleBudgets(config: JsonRecord): unknown[] {
  return [recordAt(config, 'thinkingConfig'), recordAt(config, 'thinking_config')].flatMap(
    (thinking) => [thinking['thinkingBudget'], thinking['thinking_budget']],
  );
}
