import {
  elementsAt,
  insertMember,
  replaceValue,
  scanJson,
  splice,
  watchList,
  type Edit,
  type MemberRange,
} from '#json/index.ts';

const path = 'generationConfig.responseModalities';
const watched = watchList([path], { snakeCaseToo: true });

/** Longer entries name no modality. */
const longestEntry = 64;

/**
 * The body of a request to an image model, with pictures among what the response may have. Where the client declares
 * them, in any case, the same buffer; otherwise the other bytes stay as they are.
 * @throws GatewayError `invalid_body`, `too_complex`, `duplicate_key`.
 */
export function withImageModality(body: Buffer): Buffer {
  const { members, objects } = scanJson(body, watched);
  const list = members.get(path);
  const config = members.get('generationConfig');
  const inConfig = objects.get('generationConfig');
  const root = objects.get('');
  const edits: Edit[] = [];
  if (list !== undefined) edits.push(...editsOfList(body, list));
  else if (inConfig !== undefined) {
    edits.push(insertMember(inConfig, 'responseModalities', ['Image']));
  } else if (config !== undefined) {
    // What is neither an object nor null is the upstream's to refuse.
    if (isNull(body, config)) edits.push(replaceValue(config, { responseModalities: ['Image'] }));
  } else if (root !== undefined) {
    edits.push(insertMember(root, 'generationConfig', { responseModalities: ['Image'] }));
  }
  return splice(body, edits);
}

function editsOfList(body: Buffer, list: MemberRange): Edit[] {
  if (isNull(body, list)) return [replaceValue(list, ['Image'])];
  if (body[list.valueStart] !== openBracket) return [];
  const entries = elementsAt(body, list.valueStart).map(({ start, end }) =>
    body.toString('latin1', start, Math.min(end, start + longestEntry)),
  );
  if (entries.length === 0) return [replaceValue(list, ['Image'])];
  if (entries.some((entry) => /^("image"|2)$/i.test(entry))) return [];
  const end = list.valueEnd - 1;
  return [{ start: end, end, bytes: Buffer.from(`,${inCaseOf(entries)}`) }];
}

const openBracket = 0x5b;

function inCaseOf(entries: readonly string[]): string {
  const all = entries.join('');
  if (all === all.toUpperCase()) return '"IMAGE"';
  return all === all.toLowerCase() ? '"image"' : '"Image"';
}

function isNull(body: Buffer, { valueStart, valueEnd }: MemberRange): boolean {
  return body.toString('latin1', valueStart, valueEnd) === 'null';
}
