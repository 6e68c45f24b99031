import type { JsonRecord } from '../values.ts';

/** What the bytes of a request's body do not reveal about its input. */
export interface InputExtent {
  /** Number of images, inline or by address or id. Each costs what an image costs, whatever its size in bytes. */
  readonly images: number;
  /** Bytes of the body that inline images take, at least. */
  readonly imageBytes: number;
  /** Bytes of the body that other inline media take: documents, audio and video. */
  readonly fileBytes: number;
  /** Estimated tokens of media other than images: inline, by name, or stored by the upstream. */
  readonly fileTokens: number;
  /**
   * The input can have any length: the upstream stores or fetches some of it, or it has documents, audio or video, of
   * which a few bytes can be many pages or hours.
   */
  readonly unseen: boolean;
  /** The upstream runs hosted tools and reads their results as input. */
  readonly hostedTools: boolean;
  /** The upstream may compact a long conversation before it responds. Absent: no. */
  readonly compacts?: boolean;
}

/** Tokens of a small file, and of a file of unknown size. */
const usualFileTokens = 1_000;
/** Base64 per token: a page of a document has about 50 KB and 1,500 tokens, a second of audio about 8 KB and 30. */
const bytesPerDocumentToken = 32;
const bytesPerFilmToken = 256;

/** Collects the extent of one request. */
export class InputTally implements InputExtent {
  images = 0;
  imageBytes = 0;
  fileBytes = 0;
  fileTokens = 0;
  unseen = false;
  hostedTools = false;
  compacts?: boolean;

  /** @param carriedData base64 or a data URL; anything else is only a name */
  image(carriedData: unknown): void {
    this.images += 1;
    if (typeof carriedData === 'string') this.imageBytes += carriedData.length;
  }

  /** Adds inline data of any media type. */
  data(mime: unknown, base64: unknown): void {
    const type = typeof mime === 'string' ? mime.trim().toLowerCase() : '';
    if (type.startsWith('image/')) this.image(base64);
    // Text is estimated by its bytes.
    else if (!type.startsWith('text/')) this.file(base64, /^(audio|video)\//.test(type));
  }

  /** Adds an address, a data URL, or neither where the part has an id instead. @param isImage for addresses and ids */
  url(url: unknown, isImage: boolean): void {
    const mime = typeof url === 'string' ? /^\s*data:([^;,]*)/i.exec(url)?.[1] : undefined;
    if (mime !== undefined) this.data(mime, url);
    else if (isImage) this.image(null);
    else this.file(null);
  }

  /** Adds media of any length. @param carriedData base64 or a data URL; anything else is a name, or stored upstream */
  file(carriedData: unknown, isFilm = false): void {
    this.unseen = true;
    const bytes = typeof carriedData === 'string' ? carriedData.length : 0;
    const perToken = isFilm ? bytesPerFilmToken : bytesPerDocumentToken;
    this.fileBytes += bytes;
    this.fileTokens += Math.max(usualFileTokens, Math.ceil(bytes / perToken));
  }
}

/** Adds a file of chat or responses: a data URL, from which some clients omit the head, or a name. */
export function addFile(tally: InputTally, data: unknown): void {
  if (typeof data === 'string' && !/^\s*(data|https?):/i.test(data)) tally.file(data);
  else tally.url(data, false);
}

/** Whether the provider searches the web with this tool: `web_search`, `web_search_20250305`, … */
export function isWebSearch({ type }: JsonRecord): boolean {
  return typeof type === 'string' && type.startsWith('web_search');
}
