import {
  Unconvertible,
  type Image,
  type ImageRequest,
  type ImageResponse,
  type ImageSource,
} from '#canonical/index.ts';
import { UnreadableResponse } from '#protocols/index.ts';
import { MediaRefused, type FetchMedia } from '../media.ts';

/** Images that are fetched at the same time for one request. */
const parallel = 3;

/**
 * The request with bytes in place of the addresses of its images.
 * @throws Unconvertible for an image that cannot be fetched.
 */
export async function fetchSources(
  request: ImageRequest,
  fetchImage: FetchMedia,
): Promise<ImageRequest> {
  const { sources, mask } = request;
  if (![...sources, mask].some((source) => source?.kind === 'url')) return request;
  const fetchedSources = await each(
    [...sources, ...(mask === null ? [] : [mask])],
    async (source) => {
      try {
        return await asBytes(source, fetchImage);
      } catch (error) {
        if (!(error instanceof MediaRefused)) throw error;
        const reason = `the image cannot be fetched: ${error.message}; please send its bytes instead`;
        throw new Unconvertible('image.url', reason);
      }
    },
  );
  return {
    ...request,
    sources: fetchedSources.slice(0, sources.length),
    mask: mask === null ? null : (fetchedSources.at(-1) ?? null),
  };
}

/**
 * The response with images in place of their addresses.
 * @throws UnreadableResponse for an image that is not to be had
 */
export async function fetchImages(
  response: ImageResponse,
  fetchImage: FetchMedia,
): Promise<ImageResponse> {
  if (!response.images.some(({ source }) => source.kind === 'url')) return response;
  const images = await each(response.images, async (image): Promise<Image> => {
    try {
      return { ...image, source: await asBytes(image.source, fetchImage) };
    } catch (error) {
      if (!(error instanceof MediaRefused)) throw error;
      throw new UnreadableResponse('a picture cannot be fetched', null, response.usage);
    }
  });
  return { ...response, images };
}

async function asBytes(source: ImageSource, fetchImage: FetchMedia): Promise<ImageSource> {
  if (source.kind !== 'url') return source;
  const { mime, bytes } = await fetchImage(source.url);
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
