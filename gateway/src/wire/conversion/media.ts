import {
  Unconvertible,
  type Block,
  type GenerationRequest,
  type MediaSource,
  type Turn,
  type ToolResultBlock,
  type LossList,
  isMedia,
} from '#canonical/index.ts';
import type { CodecTraits } from '#protocols/index.ts';
import { refusalOf } from './losses.ts';

/** The result of fetching a media URL. */
export interface FetchedMedia {
  /** Without parameters, lower case. */
  readonly mime: string;
  readonly bytes: Buffer;
}

/**
 * Fetches a URL that a client chose, with a guarded client, within the memory of its request.
 * @throws MediaRefused
 */
export type FetchMedia = (url: string) => Promise<FetchedMedia>;

/** The URL was not fetched, or returned nothing usable. `message` may be shown to the caller. */
export class MediaRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'MediaRefused';
  }
}

/** A URL in a request whose upstream accepts only bytes. */
export interface WantedMedia {
  readonly url: string;
  readonly type: MediaBlock['type'];
}

/** Media by their URLs. */
export type FoundMedia = ReadonlyMap<string, FetchedMedia>;

/** The request cannot be converted before these media are there. */
export class MediaWanted extends Error {
  readonly wanted: readonly WantedMedia[];

  constructor(wantedMedia: readonly WantedMedia[]) {
    super(`${wantedMedia.length} media are to be fetched`);
    this.name = 'MediaWanted';
    this.wanted = wantedMedia;
  }
}

/** Limits for one request: number of URLs, and total bytes. One request must not fetch the whole web. */
const maxAddresses = 20;
const maxTotalBytes = 40 * 1024 * 1024;
const parallel = 4;

type MediaBlock = Extract<Block, { readonly source: MediaSource }>;

/**
 * Replaces media URLs by bytes if the upstream accepts only bytes. Fetches nothing, so that no thread waits for a
 * stranger's host.
 * @param asBytes the kinds of media that must be bytes
 * @throws MediaWanted for what is not among the found
 */
export function inlineMedia(
  request: GenerationRequest,
  asBytes: CodecTraits['mediaAsBytes'],
  foundMedia: FoundMedia,
): GenerationRequest {
  if (asBytes.size === 0) return request;
  const namedMedia = new Map<string, WantedMedia>();
  for (const block of allBlocks(request)) {
    const url = addressOf(block, asBytes);
    if (url !== null) namedMedia.set(url, { url, type: (block as MediaBlock).type });
  }
  if (namedMedia.size === 0) return request;
  if (namedMedia.size > maxAddresses) {
    throw new Unconvertible('media.url', `more than ${maxAddresses} media addresses`);
  }
  const wantedMedia = [...namedMedia.values()].filter(({ url }) => !foundMedia.has(url));
  if (wantedMedia.length > 0) throw new MediaWanted(wantedMedia);
  const sources = new Map<string, MediaSource>();
  for (const url of namedMedia.keys()) {
    const { mime, bytes } = foundMedia.get(url)!;
    sources.set(url, { kind: 'data', mime, base64: bytes.toString('base64') });
  }
  const inline = (block: Block): Block => {
    if (block.type === 'tool-result') return { ...block, content: block.content.map(inline) };
    const source = sources.get(addressOf(block, asBytes) ?? '');
    return source === undefined ? block : ({ ...block, source } as Block);
  };
  const turns = request.turns.map((turn): Turn => ({ ...turn, blocks: turn.blocks.map(inline) }));
  return { ...request, turns };
}

/**
 * Fetches media that a conversion wants, a few at a time.
 * @param before bytes that were fetched for the same request before
 * @throws GatewayError `invalid_value` that names the kind, if a URL cannot be fetched; what `fetchMedia` throws
 */
export async function fetchWanted(
  wantedMedia: readonly WantedMedia[],
  before: number,
  fetchMedia: FetchMedia,
  fieldName: (what: string) => string,
): Promise<FoundMedia> {
  const fetchedMedia = new Map<string, FetchedMedia>();
  const queue = wantedMedia.values();
  let total = before;
  const work = async (): Promise<void> => {
    for (const each of queue) {
      const media = await fetchOne(each, fetchMedia);
      total += media.bytes.length;
      if (total > maxTotalBytes) throw new Unconvertible('media.url', 'the media are too large');
      fetchedMedia.set(each.url, media);
    }
  };
  try {
    await Promise.all(Array.from({ length: parallel }, work));
    return fetchedMedia;
  } catch (error) {
    throw error instanceof Unconvertible ? refusalOf(error, fieldName) : error;
  }
}

async function fetchOne({ url, type }: WantedMedia, fetchMedia: FetchMedia): Promise<FetchedMedia> {
  try {
    return await fetchMedia(url);
  } catch (error) {
    if (!(error instanceof MediaRefused)) throw error;
    throw new Unconvertible(
      `${type}.url`,
      `the ${type} cannot be fetched: ${error.message}; please send its bytes instead`,
    );
  }
}

function* allBlocks(request: GenerationRequest): Generator<Block> {
  for (const { blocks } of request.turns) {
    for (const block of blocks) {
      yield block;
      if (block.type === 'tool-result') yield* block.content;
    }
  }
}

function addressOf(block: Block, asBytes: CodecTraits['mediaAsBytes']): string | null {
  if (!('source' in block) || !asBytes.has(block.type) || block.source.kind !== 'url') return null;
  return /^https?:/i.test(block.source.url) ? block.source.url : null;
}

/**
 * If tool results can only be text, moves their images and files behind them in the same turn, each with its origin.
 */
export function moveResultMedia(request: GenerationRequest, losses: LossList): GenerationRequest {
  const turns = request.turns.map((turn): Turn => {
    if (!turn.blocks.some(hasMedia)) return turn;
    losses.approximated('tool_result.media');
    const blocks: Block[] = [];
    const movedMedia: Block[] = [];
    for (const block of turn.blocks) {
      if (!hasMedia(block)) {
        blocks.push(block);
        continue;
      }
      const text = block.content.filter((inner) => !isMedia(inner));
      movedMedia.push({ type: 'text', text: `Output of tool call ${block.id ?? ''}:` });
      movedMedia.push(...block.content.filter(isMedia));
      blocks.push({ ...block, content: text.length > 0 ? text : [placeholder] });
    }
    return { ...turn, blocks: insertAfterResults(blocks, movedMedia) };
  });
  return { ...request, turns };
}

const placeholder: Block = Object.freeze({ type: 'text', text: 'The output follows.' });

function hasMedia(block: Block): block is ToolResultBlock {
  return block.type === 'tool-result' && block.content.some(isMedia);
}

function insertAfterResults(blocks: readonly Block[], movedMedia: readonly Block[]): Block[] {
  const at = blocks.findLastIndex((block) => block.type === 'tool-result') + 1;
  return [...blocks.slice(0, at), ...movedMedia, ...blocks.slice(at)];
}
