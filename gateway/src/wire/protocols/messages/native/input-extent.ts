import { InputTally, recordsIn, type InputExtent } from '../../input-extent.ts';
import { isRecord, type JsonRecord } from '../../values.ts';

/** How the types of tools that the client runs begin; the others are run by the provider. */
const clients = /^(custom$|bash_|text_editor_|computer_|memory_)/;

/** What of a Messages request's input its bytes do not tell. */
export function inputExtent(json: JsonRecord): InputExtent {
  const tally = new InputTally();
  addContent(tally, json['system']);
  for (const { content } of recordsIn(json['messages'])) addContent(tally, content);
  const isHosted = ({ type }: JsonRecord): boolean =>
    typeof type === 'string' && !clients.test(type);
  tally.hostedTools =
    recordsIn(json['tools']).some(isHosted) || !recordsIn(json['mcp_servers']).next().done;
  return tally;
}

/** A text, a list of blocks, or the one object in a tool's result. */
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
  // The label of what stands as a picture is corrected where it is wrong, and a data URL is taken for its data.
  else if (type === 'base64' && isImage && !isForeign(mime)) tally.image(data);
  else if (type === 'base64') tally.data(mime, data);
  else if (type !== 'text') tally.url(url, isImage);
}

/** A label that says outright that it is no picture. */
function isForeign(mime: unknown): boolean {
  return typeof mime === 'string' && /^(application|audio|video)\//i.test(mime.trim());
}
