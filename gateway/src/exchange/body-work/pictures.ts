import { readPictures, type ReadPictures } from '#conversion/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import type { PicturesResult } from './picture-result.ts';
import { plainSource, sourceIn } from './plain-source.ts';
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
      source: plainSource(bytes, picture.source),
    }));
    return { kind: 'pictures', ...rest, found: { ...found, pictures: plain } };
  });
}

/** @param body the body in which the thread found them */
export function picturesOf(
  { answered, found, edit }: Exclude<PicturesResult, Unreadable>,
  body: Buffer,
): ReadPictures {
  const pictures = found.pictures.map((picture) => ({
    ...picture,
    source: sourceIn(body, picture.source),
  }));
  return {
    answered: answered === null ? null : { ...answered, entries: answered.entries.map(entryOf) },
    found: { ...found, pictures },
    edit: edit === null ? null : { ...edit, bytes: asBuffer(edit.bytes) },
  };
}

function entryOf(entry: Entry): Entry {
  const { pictureStart: start } = entry;
  return { ...entry, pictureStart: start === null ? null : asBuffer(start) };
}

type Entry = NonNullable<ReadPictures['answered']>['entries'][number];
