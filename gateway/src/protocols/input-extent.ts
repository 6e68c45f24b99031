import { isRecord, type JsonRecord } from './values.ts';

/** Of a request's input what the bytes of its body do not tell. */
export interface InputExtent {
  /** Pictures: named by an address or an id, or carried. Each takes what a picture takes, however many bytes it has. */
  readonly images: number;
  /** Of them and of other media, those that are only named: nothing in the body is as long as they are. */
  readonly named: number;
  /** How much of the body the carried ones are, at least. */
  readonly imageBytes: number;
  /**
   * Input of any length: what the upstream keeps or fetches itself, and documents, sound and film, of which few bytes
   * can be many pages or hours.
   */
  readonly unseen: boolean;
  /** The upstream runs tools of its own in between, and reads what they find. */
  readonly hostedTools: boolean;
}

/** Gathers the extent of one request. */
export class InputTally implements InputExtent {
  images = 0;
  named = 0;
  imageBytes = 0;
  unseen = false;
  hostedTools = false;

  /** @param carried base64 or a data URL; else the picture is only named */
  image(carried: unknown): void {
    this.images += 1;
    if (typeof carried === 'string') this.imageBytes += carried.length;
    else this.named += 1;
  }

  /** Of any kind, as data of a media type. */
  data(mime: unknown, base64: unknown): void {
    const type = typeof mime === 'string' ? mime.trim().toLowerCase() : '';
    if (type.startsWith('image/')) this.image(base64);
    // What is text takes what its bytes take.
    else if (!type.startsWith('text/')) this.unseen = true;
  }

  /** An address, the data themselves in a data URL, or neither where an id stands instead. @param isImage what is named */
  url(url: unknown, isImage: boolean): void {
    const mime = typeof url === 'string' ? /^\s*data:([^;,]*)/i.exec(url)?.[1] : undefined;
    if (mime !== undefined) this.data(mime, url);
    else if (isImage) this.image(null);
    else this.file();
  }

  /** What is named and may be of any length. */
  private file(): void {
    this.named += 1;
    this.unseen = true;
  }
}

/** The objects of a list; nothing for what is no list. */
export function* recordsIn(list: unknown): Generator<JsonRecord> {
  if (!Array.isArray(list)) return;
  for (const item of list as readonly unknown[]) if (isRecord(item)) yield item;
}
