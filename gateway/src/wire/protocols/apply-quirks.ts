import {
  type Edit,
  elementsAt,
  type KeyedRange,
  membersAt,
  objectStart,
  removeMembers,
  replaceKey,
  splice,
} from '#json/index.ts';
import type { QuirksOfRequest } from '#vendors/index.ts';
import type { PatchedRequest } from './protocol.ts';

type QuirkEdit = QuirksOfRequest[number]['edit'];

/**
 * Applies a vendor's quirks to a request that is ready to be sent, and adds the ids of those that changed it. All other
 * bytes stay as they are.
 * @throws GatewayError `too_complex`
 */
export function applyQuirks(
  patched: PatchedRequest,
  quirks: QuirksOfRequest | undefined,
): PatchedRequest {
  if (quirks === undefined || quirks.length === 0) return patched;
  let { body } = patched;
  const found: string[] = [];
  // One after the other: two quirks may concern neighbours, which cannot be spliced at once.
  for (const { id, edit } of quirks) {
    const edits = editsFor(body, edit);
    if (edits.length === 0) continue;
    body = splice(body, edits);
    found.push(id);
  }
  return found.length === 0
    ? patched
    : { ...patched, body, rewrites: [...patched.rewrites, ...found] };
}

function editsFor(body: Buffer, edit: QuirkEdit): Edit[] {
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
