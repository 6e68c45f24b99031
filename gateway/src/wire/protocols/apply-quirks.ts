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
import { parseExact } from './exact-json.ts';
import { recordsIn } from './input-extent.ts';
import { fillEmpty } from './fill-empty.ts';
import { fitMedia } from './fit-media.ts';
import { isModern, modernSchema } from './modern-schema.ts';
import type { PatchedRequest } from './protocol.ts';
import { isRecord, type JsonRecord } from './values.ts';

type QuirkEdit = Exclude<QuirksOfRequest[number]['edit'], { repair: unknown }>;

/**
 * Applies a vendor's quirks to a request that is ready to be sent, and adds the ids of those that changed it. All other
 * bytes stay as they are.
 * @param json the client's request, parsed; absent: it was converted, so its schemas are written in the words of today
 * @throws GatewayError `too_complex`
 */
export function applyQuirks(
  patched: PatchedRequest,
  quirks: QuirksOfRequest | undefined,
  json?: JsonRecord,
): PatchedRequest {
  if (quirks === undefined || quirks.length === 0) return patched;
  let { body } = patched;
  const found: string[] = [];
  // One after the other: two quirks may concern neighbours, which cannot be spliced at once.
  for (const { id, edit } of quirks) {
    if ('repair' in edit) {
      const repaired = repairs[edit.repair](body, json);
      if (repaired === body) continue;
      body = repaired;
      found.push(id);
      continue;
    }
    if ('modernize' in edit && !holdsOldSchema(json, edit.modernize.split('.'))) continue;
    const edits = editsFor(body, edit);
    if (edits.length === 0) continue;
    body = splice(body, edits);
    found.push(id);
  }
  return found.length === 0
    ? patched
    : { ...patched, body, rewrites: [...patched.rewrites, ...found] };
}

const repairs: Readonly<
  Record<VendorRepair, (body: Buffer, json: JsonRecord | undefined) => Buffer>
> = {
  b12: fillEmpty,
  b36: fitMedia,
  b41: replaceHalfCharacters,
};

function editsFor(body: Buffer, edit: QuirkEdit): Edit[] {
  if ('modernize' in edit) return modernized(body, edit.modernize.split('.'));
  const steps = ('drop' in edit ? edit.drop : edit.rename).split('.');
  const name = steps.at(-1)!;
  return holdersOf(body, objectStart(body, 0), steps).flatMap((members) => {
    const named = members.filter(({ key }) => key === name);
    const renamed =
      'rename' in edit && members.every(({ key }) => key !== edit.to) ? named.at(-1) : undefined;
    const edits = removeMembers(
      body,
      members,
      (member) => member.key === name && member !== renamed,
    );
    if (renamed !== undefined && 'rename' in edit) edits.push(replaceKey(body, renamed, edit.to));
    return edits;
  });
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

/** Whether a schema with this path has words of an earlier draft. Nearly none has, and the parsed request shows it soonest. */
function holdsOldSchema(
  value: JsonRecord | undefined,
  [step = '', ...rest]: readonly string[],
): boolean {
  if (value === undefined) return false;
  const isList = step.endsWith('[]');
  const inner = value[isList ? step.slice(0, -2) : step];
  const records = isList ? recordsIn(inner) : isRecord(inner) ? [inner] : [];
  return records.some((record) =>
    rest.length === 0 ? !isModern(record) : holdsOldSchema(record, rest),
  );
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
