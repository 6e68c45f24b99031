import {
  Unconvertible,
  type Loss,
  type ImageRequest,
  type ImageSource,
  type ImageProtocolName,
  type ImageResponse,
  LossList,
} from '#canonical/index.ts';
import {
  imageCodecs,
  imageSides,
  type ImageClient,
  type ImageTarget,
  images,
  type ImagesResponse,
  type ModelEcho,
} from '#protocols/index.ts';
import type { Edit } from '#json/index.ts';
import { refusalOf, refuseLosses } from '../losses.ts';
import type { FetchMedia } from '../media.ts';
import { fetchSources } from './fetch-images.ts';
import { inBase64, inBytes } from './recode.ts';

export interface ImageConversion extends ImageTarget {
  readonly client: ImageClient;
  readonly upstream: ImageProtocolName;
  /** Refuse every loss. */
  readonly strict: boolean;
  readonly fetchImage: FetchMedia;
}

export interface ConvertedImageRequest {
  readonly form: 'generation' | 'edit';
  readonly body: Buffer;
  readonly contentType: string;
  readonly losses: readonly Loss[];
}

/**
 * A request for images, for an upstream of another protocol.
 * @throws GatewayError `invalid_value` with `param` for a part that cannot be converted, or must not be lost
 */
export async function convertImageRequest(
  request: ImageRequest,
  options: ImageConversion,
): Promise<ConvertedImageRequest> {
  const names = imageSides[options.client].lossNames;
  const fieldName = (what: string): string => names[what] ?? what;
  try {
    const encodedRequest = imageSides[options.upstream].encodeRequest(
      await readySources(request, options),
      options,
    );
    const losses = new LossList();
    losses.addAll(encodedRequest.losses);
    if (options.strict) refuseLosses(losses.all(), fieldName);
    return { ...encodedRequest, losses: losses.all() };
  } catch (error) {
    throw error instanceof Unconvertible ? refusalOf(error, fieldName) : error;
  }
}

/**
 * With its images as the upstream takes them: bytes in a form, Base64 in JSON. Only references are passed on as
 * addresses.
 */
async function readySources(
  request: ImageRequest,
  { upstream, capabilities, fetchImage }: ImageConversion,
): Promise<ImageRequest> {
  const { takesForms } = imageSides[upstream];
  const isForm = takesForms && capabilities.has('edits');
  const isFetched = isForm || !takesForms;
  const fetchedRequest = isFetched ? await fetchSources(request, fetchImage) : request;
  const recode = isForm ? inBytes : inBase64;
  const sources: ImageSource[] = [];
  for (const source of fetchedRequest.sources) sources.push(await recode(source));
  const mask = fetchedRequest.mask === null ? null : await recode(fetchedRequest.mask);
  return { ...fetchedRequest, sources, mask };
}

export interface ImageReading {
  readonly upstream: ImageProtocolName;
  /** The client speaks the upstream's protocol and gets the response as it is. */
  readonly isOwn: boolean;
  readonly echo: ModelEcho;
}

export interface ReadImages {
  /** What an upstream of images states. Null: only the images tell. */
  readonly clientResponse: Omit<ImagesResponse, 'body'> | null;
  readonly upstreamResponse: ImageResponse;
  /** Gives the response the client's name of the model. Null: there is nothing to replace, or the response is converted. */
  readonly edit: Edit | null;
}

/**
 * Reads a whole response with images. Nothing is fetched, and images stay slices of the body.
 * @throws UnreadableResponse
 */
export function readConvertedImages(
  body: Buffer,
  { upstream, isOwn, echo }: ImageReading,
): ReadImages {
  const { contents } = imageCodecs;
  if (isOwn) {
    return {
      clientResponse: null,
      upstreamResponse: contents.findImages(body),
      edit: contents.echo(body, echo),
    };
  }
  if (upstream === contents.protocol) {
    return { clientResponse: null, upstreamResponse: contents.decodeResponse(body), edit: null };
  }
  const { upstreamModel } = echo;
  const read = images.readResponse(body, { clientModel: upstreamModel, upstreamModel });
  const { body: _, ...clientResponse } = read;
  return {
    clientResponse,
    upstreamResponse: imageCodecs.images.decodeResponse(body, read.usage),
    edit: null,
  };
}
