import { isRecord, type JsonRecord } from './values.ts';

/** What the bytes of a request's body do not say of its input. */
export interface InputExtent {
  /** Pictures: named by an address or an id, or carried. Each takes what a picture takes, however many bytes it has. */
  readonly images: number;
  /** How much of the body the carried ones are, at least. */
  readonly imageBytes: number;
  /** How much of the body are other media: documents, sound and film. */
  readonly fileBytes: number;
  /** A guess at the tokens of what is neither text nor a picture, carried, named or kept by the upstream. */
  readonly fileTokens: number;
  /**
   * Input of any length: what the upstream keeps or fetches itself, and documents, sound and film, of which few bytes
   * can be many pages or hours.
   */
  readonly unseen: boolean;
  /** The upstream runs tools of its own in between, and reads what they find. */
  readonly hostedTools: boolean;
}

/** What a file takes at least, and one of which nothing is known. */
const usualFileTokens = 1_000;
/** Base64 for a token: a page of a document has some 50 KB and 1,500 tokens, a second of sound some 8 KB and 30. */
const bytesPerDocumentToken = 32;
const bytesPerFilmToken = 256;

/** Gathers the extent of one request. */
export class InputTally implements InputExtent {
  images = 0;
  imageBytes = 0;
  fileBytes = 0;
  fileTokens = 0;
  unseen = false;
  hostedTools = false;

  /** @param carried base64 or a data URL; else the picture is only named */
  image(carried: unknown): void {
    this.images += 1;
    if (typeof carried === 'string') this.imageBytes += carried.length;
  }

  /** Of any kind, as data of a media type. */
  data(mime: unknown, base64: unknown): void {
    const type = typeof mime === 'string' ? mime.trim().toLowerCase() : '';
    if (type.startsWith('image/')) this.image(base64);
    // What is text takes what its bytes take.
    else if (!type.startsWith('text/')) this.file(base64, /^(audio|video)\//.test(type));
  }

  /** An address, the data themselves in a data URL, or neither where an id stands instead. @param isImage what is named */
  url(url: unknown, isImage: boolean): void {
    const mime = typeof url === 'string' ? /^\s*data:([^;,]*)/i.exec(url)?.[1] : undefined;
    if (mime !== undefined) this.data(mime, url);
    else if (isImage) this.image(null);
    else this.file(null);
  }

  /** Of any length. @param carried base64 or a data URL; else it is only named, or kept by the upstream */
  file(carried: unknown, isFilm = false): void {
    this.unseen = true;
    const bytes = typeof carried === 'string' ? carried.length : 0;
    const perToken = isFilm ? bytesPerFilmToken : bytesPerDocumentToken;
    this.fileBytes += bytes;
    this.fileTokens += Math.max(usualFileTokens, Math.ceil(bytes / perToken));
  }
}

/** The objects of a list; nothing for what is no list. */
export function* recordsIn(list: unknown): Generator<JsonRecord> {
  if (!Array.isArray(list)) return;
  for (const item of list as readonly unknown[]) if (isRecord(item)) yield item;
}

/** A file as chat and responses carry it: a data URL, which some clients write without its head; else it is named. */
export function addFile(tally: InputTally, data: unknown): void {
  if (typeof data === 'string' && !/^\s*(data|https?):/i.test(data)) tally.file(data);
  else tally.url(data, false);
}

/** A tool by which the provider searches the web: `web_search`, `web_search_preview`, `web_search_20250305`, … */
export function isWebSearch({ type }: JsonRecord): boolean {
  return typeof type === 'string' && type.startsWith('web_search');
}
