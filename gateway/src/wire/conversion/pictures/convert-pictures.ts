import {
  Unconvertible,
  type Loss,
  type PictureRequest,
  type PictureSource,
  type PictureProtocolName,
  type PictureResponse,
} from '#canonical/index.ts';
import {
  pictures,
  pictureSides,
  type PictureClient,
  type PictureTarget,
  images,
  type ImageResponse,
  type ModelEcho,
} from '#protocols/index.ts';
import type { Edit } from '#json/index.ts';
import { LossList, refusalOf, refuseLosses } from '../losses.ts';
import type { FetchMedia } from '../media.ts';
import { fetchSources } from './fetch-pictures.ts';
import { inBase64, inBytes } from './recode.ts';

export interface PictureConversion extends PictureTarget {
  readonly client: PictureClient;
  readonly upstream: PictureProtocolName;
  /** Refuse every loss. */
  readonly strict: boolean;
  readonly fetchPicture: FetchMedia;
}

export interface ConvertedPictureRequest {
  readonly form: 'generation' | 'edit';
  readonly body: Buffer;
  readonly contentType: string;
  readonly losses: readonly Loss[];
}

/**
 * A request for pictures, for an upstream of another protocol.
 * @throws GatewayError `invalid_value` with `param` for a part that cannot be converted, or must not be lost
 */
export async function convertPictureRequest(
  request: PictureRequest,
  options: PictureConversion,
): Promise<ConvertedPictureRequest> {
  const names = pictureSides[options.client].lossNames;
  const fieldName = (what: string): string => names[what] ?? what;
  try {
    const converted = pictureSides[options.upstream].encodeRequest(
      await readySources(request, options),
      options,
    );
    const losses = new LossList();
    for (const loss of converted.losses) losses.add(loss);
    if (options.strict) refuseLosses(losses.all(), fieldName);
    return { ...converted, losses: losses.all() };
  } catch (error) {
    throw error instanceof Unconvertible ? refusalOf(error, fieldName) : error;
  }
}

/**
 * With its pictures as the upstream takes them: bytes in a form, Base64 in JSON. Only references are passed on as
 * addresses.
 */
async function readySources(
  request: PictureRequest,
  { upstream, capabilities, fetchPicture }: PictureConversion,
): Promise<PictureRequest> {
  const { takesForms } = pictureSides[upstream];
  const isForm = takesForms && capabilities.has('edits');
  const isFetched = isForm || !takesForms;
  const fetched = isFetched ? await fetchSources(request, fetchPicture) : request;
  const recode = isForm ? inBytes : inBase64;
  const sources: PictureSource[] = [];
  for (const source of fetched.sources) sources.push(await recode(source));
  const mask = fetched.mask === null ? null : await recode(fetched.mask);
  return { ...fetched, sources, mask };
}

export interface PictureReading {
  readonly upstream: PictureProtocolName;
  /** The client speaks the upstream's protocol and gets the response as it is. */
  readonly isOwn: boolean;
  readonly echo: ModelEcho;
}

export interface ReadPictures {
  /** What an upstream of images states. Null: only the pictures tell. */
  readonly answered: Omit<ImageResponse, 'body'> | null;
  readonly found: PictureResponse;
  /** Gives the response the client's name of the model. Null: there is nothing to replace, or the response is converted. */
  readonly edit: Edit | null;
}

/**
 * Reads a whole response with pictures. Nothing is fetched, and pictures stay slices of the body.
 * @throws UnreadableResponse
 */
export function readPictures(
  body: Buffer,
  { upstream, isOwn, echo }: PictureReading,
): ReadPictures {
  const { contents } = pictures;
  if (isOwn) {
    return { answered: null, found: contents.findPictures(body), edit: contents.echo(body, echo) };
  }
  if (upstream === contents.protocol) {
    return { answered: null, found: contents.decodeResponse(body), edit: null };
  }
  const { upstreamModel } = echo;
  const read = images.readResponse(body, { clientModel: upstreamModel, upstreamModel });
  const { body: _, ...answered } = read;
  return { answered, found: pictures.images.decodeResponse(body, read.usage), edit: null };
}
