import {
  Unconvertible,
  type Block,
  type GenerationRequest,
  type MediaSource,
  type Turn,
} from '#canonical/index.ts';
import type { CodecTraits } from '#protocols/index.ts';

/** The result of fetching a media URL. */
export interface FetchedMedia {
  /** Without parameters, lower case. */
  readonly mime: string;
  readonly bytes: Buffer;
}

/**
 * Fetches a URL that a client chose, with a guarded client.
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

/** The request has media URLs that must not be fetched in this case. */
export class MediaLeftAlone extends Error {
  constructor() {
    super('media are not fetched for a token count');
    this.name = 'MediaLeftAlone';
  }
}

/** Limits for one request: number of URLs, and total bytes. One request must not fetch the whole web. */
const maxAddresses = 20;
const maxTotalBytes = 40 * 1024 * 1024;
const parallel = 4;

type MediaBlock = Extract<Block, { readonly source: MediaSource }>;

/**
 * Replaces media URLs by bytes if the upstream accepts only bytes.
 * @param asBytes the kinds of media that must be bytes
 * @throws Unconvertible that names the kind, if a URL cannot be fetched.
 */
export async function inlineMedia(
  request: GenerationRequest,
  asBytes: CodecTraits['mediaAsBytes'],
  fetchMedia: FetchMedia,
): Promise<GenerationRequest> {
  if (asBytes.size === 0) return request;
  const wanted = new Map<string, MediaBlock>();
  for (const block of allBlocks(request)) {
    const url = addressOf(block, asBytes);
    if (url !== null) wanted.set(url, block as MediaBlock);
  }
  if (wanted.size === 0) return request;
  if (wanted.size > maxAddresses) {
    throw new Unconvertible('media.url', `more than ${maxAddresses} media addresses`);
  }
  const fetched = await fetchAll([...wanted], fetchMedia);
  const inline = (block: Block): Block => {
    if (block.type === 'tool-result') return { ...block, content: block.content.map(inline) };
    const source = fetched.get(addressOf(block, asBytes) ?? '');
    return source === undefined ? block : ({ ...block, source } as Block);
  };
  const turns = request.turns.map((turn): Turn => ({ ...turn, blocks: turn.blocks.map(inline) }));
  return { ...request, turns };
}

async function fetchAll(
  wanted: readonly (readonly [string, MediaBlock])[],
  fetchMedia: FetchMedia,
): Promise<Map<string, MediaSource>> {
  const fetched = new Map<string, MediaSource>();
  const queue = wanted.values();
  let total = 0;
  const work = async (): Promise<void> => {
    for (const [url, block] of queue) {
      const { mime, bytes } = await fetchOne(url, block, fetchMedia);
      total += bytes.length;
      if (total > maxTotalBytes) throw new Unconvertible('media.url', 'the media are too large');
      fetched.set(url, { kind: 'data', mime, base64: bytes.toString('base64') });
    }
  };
  await Promise.all(Array.from({ length: parallel }, work));
  return fetched;
}

async function fetchOne(
  url: string,
  { type }: MediaBlock,
  fetchMedia: FetchMedia,
): Promise<FetchedMedia> {
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
