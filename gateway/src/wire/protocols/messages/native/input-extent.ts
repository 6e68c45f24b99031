import { InputTally, recordsIn, type InputExtent } from '../../shared/text/input-extent.ts';
import { isRecord, recordAt, type JsonRecord } from '../../shared/values.ts';

/** Prefixes in the types of tools that the client runs. The provider runs the others. */
const clients = /^(custom$|bash_|text_editor_|computer_|memory_)/;

/** What the bytes of a Messages request do not reveal about its input. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  addContent(tally, json['system']);
  for (const { content } of recordsIn(json['messages'])) addContent(tally, content);
  const isHosted = ({ type }: JsonRecord): boolean =>
    typeof type === 'string' && !clients.test(type);
  tally.hostedTools =
    recordsIn(json['tools']).some(isHosted) || !recordsIn(json['mcp_servers']).next().done;
  if (compacts(json)) tally.compacts = true;
  return tally;
}

/** `compact_20260112` and its successors, or the member of `compact-2026-09-04`. */
function compacts(json: JsonRecord): boolean {
  if (isRecord(json['compaction'])) return true;
  const { edits } = recordAt(json, 'context_management');
  return recordsIn(edits).some(
    ({ type }) => typeof type === 'string' && type.startsWith('compact_'),
  );
}

/** A text, a list of blocks, or the single object in a tool result. */
function addContent(tally: InputTally, content: unknown): void {
  for (const block of isRecord(content) ? [content] : recordsIn(content)) {
    const { type, source, content: inner } = block;
    if (isRecord(source)) addSource(tally, source, type === 'image');
    else if (type === 'container_upload') tally.file(null);
    if (typeof inner === 'object') addContent(tally, inner);
  }
}

function addSource(tally: InputTally, source: JsonRecord, isImage: boolean): void {
  const { type, media_type: mime, data, url, content } = source;
  if (type === 'content') addContent(tally, content);
  // A repair corrects the wrong media type of an image, and replaces a data URL by its data.
  else if (type === 'base64' && isImage && !isForeign(mime)) tally.image(data);
  else if (type === 'base64') tally.data(mime, data);
  else if (type !== 'text') tally.url(url, isImage);
}

/** A media type that cannot be an image's. */
function isForeign(mime: unknown): boolean {
  return typeof mime === 'string' && /^(application|audio|video)\//i.test(mime.trim());
}
