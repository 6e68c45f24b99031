import { images, type OpenedImages } from '#protocols/index.ts';
import { callOnBody } from '../attempts/in-thread.ts';
import type { Exchange } from '../exchange.ts';
import { namedRoutes } from '../admission/find-model.ts';
import type { OpenedRequest, ResolvedModel } from '../operation.ts';
import { requireOffered } from '../admission/offered-terms.ts';
import { requirePriced } from './measure-images.ts';
import type { CheckedImages, ImageBody, ImageInput, ImageParts, ImageUpload } from './prepared.ts';

type OpenedRequestForImages = OpenedRequest<ImageInput, CheckedImages>;

/** Reads a request as far as its model. @throws GatewayError, ClientGone */
export function openImages(
  parts: Pick<ImageParts, 'bodies' | 'ticker'>,
  input: ImageInput,
): OpenedRequestForImages | Promise<OpenedRequestForImages> {
  const { upload } = input;
  if (upload !== undefined) return openUpload(parts, input, upload);
  const openedImages = openBody(parts, input, contentTypeOf(input));
  return openedImages instanceof Promise ? openedImages.then(checkable) : checkable(openedImages);
}

/** A form has been read as it arrived; JSON without its images is read like a small body. */
function openUpload(
  parts: Pick<ImageParts, 'bodies' | 'ticker'>,
  input: ImageInput,
  upload: ImageUpload,
): OpenedRequestForImages | Promise<OpenedRequestForImages> {
  const read = upload.reader.end();
  if (read.encoding === 'multipart') return checkable({ ...read.open(), body: upload });
  input.body = read.outline;
  const checkableUpload = (openedImages: OpenedImages): OpenedRequestForImages => {
    input.body = noBody;
    return checkable({ ...read.placed(openedImages), body: upload });
  };
  const openedImages = openBody(parts, input, 'application/json');
  return openedImages instanceof Promise
    ? openedImages.then(checkableUpload)
    : checkableUpload(openedImages);
}

const noBody = Buffer.alloc(0);

function openBody(
  parts: Pick<ImageParts, 'bodies' | 'ticker'>,
  input: ImageInput,
  contentType: string,
): OpenedImages | Promise<OpenedImages> {
  return callOnBody(parts, input, 'openImages', { form: input.form, contentType });
}

function contentTypeOf({ headers }: ImageInput): string {
  const value = headers['content-type'];
  return typeof value === 'string' ? value : 'application/json';
}

function checkable(openedImages: OpenedImages<ImageBody>): OpenedRequestForImages {
  return {
    model: openedImages.model,
    check: (exchange, resolvedModel) => checkImages(exchange, resolvedModel, openedImages),
  };
}

/** @throws GatewayError for what the model cannot do, and for what has no price. */
function checkImages(
  exchange: Exchange<ImageInput>,
  resolvedModel: ResolvedModel,
  openedImages: OpenedImages<ImageBody>,
): CheckedImages {
  const { model } = resolvedModel;
  const request = images.readRequest(openedImages, model.capabilities);
  exchange.stream = request.stream;
  requirePriced(resolvedModel, request, request.size);
  const { terms } = request;
  if (terms.length > 0) {
    requireOffered(terms, model, namedRoutes(exchange.input, resolvedModel));
  }
  return { resolvedModel, request, namedStates: request.namedStates, names: null };
}
