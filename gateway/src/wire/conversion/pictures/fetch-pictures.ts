import {
  Unconvertible,
  type Picture,
  type PictureRequest,
  type PictureResponse,
  type PictureSource,
} from '#canonical/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import { MediaRefused, type FetchMedia } from '../media.ts';

/** Pictures that are fetched at the same time for one request. */
const parallel = 3;

/**
 * The request with bytes in place of the addresses of its pictures.
 * @throws Unconvertible for a picture that cannot be fetched.
 */
export async function fetchSources(
  request: PictureRequest,
  fetchPicture: FetchMedia,
): Promise<PictureRequest> {
  const { sources, mask } = request;
  if (![...sources, mask].some((source) => source?.kind === 'url')) return request;
  const fetched = await each([...sources, ...(mask === null ? [] : [mask])], async (source) => {
    try {
      return await asBytes(source, fetchPicture);
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error;
      const reason = `the image cannot be fetched: ${error.message}; please send its bytes instead`;
      throw new Unconvertible('image.url', reason);
    }
  });
  return {
    ...request,
    sources: fetched.slice(0, sources.length),
    mask: mask === null ? null : (fetched.at(-1) ?? null),
  };
}

/**
 * The response with pictures in place of their addresses.
 * @throws UnreadableResponse for a picture that is not to be had
 */
export async function fetchPictures(
  response: PictureResponse,
  fetchPicture: FetchMedia,
): Promise<PictureResponse> {
  if (!response.pictures.some(({ source }) => source.kind === 'url')) return response;
  const pictures = await each(response.pictures, async (picture): Promise<Picture> => {
    try {
      return { ...picture, source: await asBytes(picture.source, fetchPicture) };
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error;
      throw new UnreadableResponse('a picture cannot be fetched', null, response.usage);
    }
  });
  return { ...response, pictures };
}

async function asBytes(source: PictureSource, fetchPicture: FetchMedia): Promise<PictureSource> {
  if (source.kind !== 'url') return source;
  const { mime, bytes } = await fetchPicture(source.url);
  if (!mime.startsWith('image/')) throw new MediaRefused('it is not an image');
  return { kind: 'bytes', mime, bytes };
}

/** In their order, a few at a time. The first failure ends it. */
async function each<Item, Result>(
  items: readonly Item[],
  work: (item: Item) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = [];
  const queue = items.entries();
  const worker = async (): Promise<void> => {
    for (const [index, item] of queue) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return results;
}
