import type { Picture, PictureSource } from '#canonical/index.ts';
import { readPictures, type ReadPictures } from '#conversion/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import type { PicturesResult, PlainPicture } from './picture-result.ts';
import { readOrReport, type Unreadable } from './unreadable.ts';

export function readPicturesJob({
  body,
  ...reading
}: Extract<Job, { kind: 'picture-response' }>): PicturesResult {
  const bytes = asBuffer(body);
  return readOrReport(() => {
    const { found, ...rest } = readPictures(bytes, reading);
    const plain = found.pictures.map((picture) => ({
      ...picture,
      source: plainIn(bytes, picture),
    }));
    return { kind: 'pictures', ...rest, found: { ...found, pictures: plain } };
  });
}

function plainIn(body: Buffer, { source }: Picture): PlainPicture['source'] {
  if (source.kind !== 'base64' || source.base64.buffer !== body.buffer) return source;
  const start = source.base64.byteOffset - body.byteOffset;
  return { kind: 'range', mime: source.mime, start, end: start + source.base64.length };
}

/** @param body the body in which the thread found them */
export function picturesOf(
  { answered, found, edit }: Exclude<PicturesResult, Unreadable>,
  body: Buffer,
): ReadPictures {
  const pictures = found.pictures.map((picture) => ({
    ...picture,
    source: sourceOf(picture, body),
  }));
  return {
    answered: answered === null ? null : { ...answered, entries: answered.entries.map(entryOf) },
    found: { ...found, pictures },
    edit: edit === null ? null : { ...edit, bytes: asBuffer(edit.bytes) },
  };
}

function sourceOf({ source }: PlainPicture, body: Buffer): PictureSource {
  if (source.kind === 'range') {
    const { mime, start, end } = source;
    return { kind: 'base64', mime, base64: body.subarray(start, end) };
  }
  // Buffers arrive as plain bytes.
  return source.kind === 'base64' ? { ...source, base64: asBuffer(source.base64) } : source;
}

function entryOf(entry: Entry): Entry {
  const { pictureStart: start } = entry;
  return { ...entry, pictureStart: start === null ? null : asBuffer(start) };
}

type Entry = NonNullable<ReadPictures['answered']>['entries'][number];
