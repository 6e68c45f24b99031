import {
  type Edit,
  elementsAt,
  type KeyedRange,
  membersAt,
  objectStart,
  removeMembers,
  replaceHalfCharacters,
  replaceKey,
  replaceValue,
  splice,
} from '#json/index.ts';
import type { QuirksOfRequest, VendorRepair } from '#vendors/index.ts';
import { parseExact } from '../exact-json.ts';
import { fillEmpty, fitMedia } from './repairs.ts';
import { isModern, modernSchema } from '../schema/modern-schema.ts';
import type { PatchedRequest } from '../../protocol.ts';
import { isRecord, type JsonRecord, recordsIn } from '../values.ts';

type QuirkEdit = Exclude<QuirksOfRequest[number]['edit'], { repair: unknown }>;

/**
 * Applies a vendor's quirks to a request that is ready to be sent, and adds the ids of those that changed it. All other
 * bytes stay as they are.
 * @param json the client's request, parsed; absent: it was converted, so its schemas are written in the words of today
 * @throws GatewayError `too_complex`
 */
export function applyQuirks(
  patched: PatchedRequest,
  quirks: QuirksOfRequest,
  json?: JsonRecord,
): PatchedRequest {
  let { body } = patched;
  const appliedIds: string[] = [];
  // One after the other: two quirks may concern neighbours, which cannot be spliced at once.
  for (const { id, edit } of quirks) {
    if ('repair' in edit) {
      const repairedBody = repairs[edit.repair](body, json);
      if (repairedBody === body) continue;
      body = repairedBody;
      appliedIds.push(id);
      continue;
    }
    const isAbsent = json !== undefined && !patched.usageInjected && !concerns(json, edit);
    if (isAbsent || ('modernize' in edit && json === undefined)) continue;
    const edits = editsFor(body, edit);
    if (edits.length === 0) continue;
    body = splice(body, edits);
    appliedIds.push(id);
  }
  return appliedIds.length === 0
    ? patched
    : { ...patched, body, rewrites: [...patched.rewrites, ...appliedIds] };
}

const repairs: Readonly<
  Record<VendorRepair, (body: Buffer, json: JsonRecord | undefined) => Buffer>
> = {
  b12: fillEmpty,
  b36: fitMedia,
  b41: replaceHalfCharacters,
};

function editsFor(body: Buffer, edit: QuirkEdit): Edit[] {
  const steps = pathOf(edit);
  if ('modernize' in edit) return modernized(body, steps);
  const name = steps.at(-1)!;
  const hasValue = (member: KeyedRange) =>
    !('value' in edit) || valueAt(body, member) === edit.value;
  return holdersOf(body, objectStart(body, 0), steps).flatMap((members) => {
    const namedMembers = members.filter((member) => member.key === name && hasValue(member));
    if ('replace' in edit) return namedMembers.map((member) => replaceValue(member, edit.by));
    const renamed =
      'rename' in edit && members.every(({ key }) => key !== edit.to)
        ? namedMembers.at(-1)
        : undefined;
    const edits = removeMembers(
      body,
      members,
      (member) => namedMembers.includes(member) && member !== renamed,
    );
    if (renamed !== undefined && 'rename' in edit) edits.push(replaceKey(body, renamed, edit.to));
    return edits;
  });
}

function pathOf(edit: QuirkEdit): readonly string[] {
  if ('drop' in edit) return edit.drop.split('.');
  if ('rename' in edit) return edit.rename.split('.');
  return ('replace' in edit ? edit.replace : edit.modernize).split('.');
}

/** Undefined for an object, a list or a long text. */
function valueAt(body: Buffer, { valueStart, valueEnd }: KeyedRange): unknown {
  if (valueEnd - valueStart > 64 || '{['.includes(String.fromCodePoint(body[valueStart]!))) return;
  return JSON.parse(body.toString('utf8', valueStart, valueEnd)) as unknown;
}

function modernized(body: Buffer, steps: readonly string[]): Edit[] {
  const schemas = holdersOf(body, objectStart(body, 0), steps)
    .flat()
    .filter(({ key }) => key === steps.at(-1));
  return schemas.flatMap((member) => {
    const schema = parseExact(body.toString('utf8', member.valueStart, member.valueEnd));
    if (!isRecord(schema)) return [];
    const modern = modernSchema(schema, () => {});
    return modern === schema ? [] : [replaceValue(member, modern)];
  });
}

/**
 * Whether the parsed request has anything to edit. Few have, and it shows sooner here than in the bytes.
 * A schema concerns `modernize` if it has words of an earlier draft.
 */
function concerns(json: JsonRecord, edit: QuirkEdit): boolean {
  return someAt(json, pathOf(edit), (value) => {
    if ('modernize' in edit) return isRecord(value) && !isModern(value);
    return value !== undefined && (!('value' in edit) || value === edit.value);
  });
}

/** Whether the test holds for a value with this path. */
function someAt(
  record: JsonRecord,
  [step = '', ...rest]: readonly string[],
  test: (value: unknown) => boolean,
): boolean {
  const isList = step.endsWith('[]');
  const inner = record[isList ? step.slice(0, -2) : step];
  if (rest.length === 0 && !isList) return test(inner);
  const records = isList ? recordsIn(inner) : isRecord(inner) ? [inner] : [];
  return records.some((each) => someAt(each, rest, test));
}

/** The members of each object that can hold the last step of a path. */
function holdersOf(
  body: Buffer,
  start: number | null,
  [step = '', ...rest]: readonly string[],
): KeyedRange[][] {
  if (start === null) return [];
  const members = membersAt(body, start);
  if (rest.length === 0) return [members];
  const isList = step.endsWith('[]');
  const name = isList ? step.slice(0, -2) : step;
  return members
    .filter(({ key }) => key === name)
    .flatMap(({ valueStart }) => (isList ? elementsAt(body, valueStart) : [{ start: valueStart }]))
    .flatMap((value) => holdersOf(body, objectStart(body, value.start), rest));
}
