import type { PictureRequest, PictureSource } from '#canonical/index.ts';
import { editAsGeneration } from '#conversion/index.ts';
import { pictures } from '#protocols/index.ts';
import { asBuffer } from './bytes.ts';
import type { Job } from './jobs.ts';
import type {
  PlainChatPictures,
  PlainContentsPictures,
  PlainGeneration,
  PlainPictureRequest,
} from './picture-request-result.ts';
import { factsOrRefusal } from './plain-error.ts';
import { plainSource, sourceIn, type PlainSource } from './plain-source.ts';

/** @throws GatewayError as `decodeRequest` */
export function readChatPicturesJob({
  body,
}: Extract<Job, { kind: 'chat-pictures' }>): PlainChatPictures {
  const bytes = asBuffer(body);
  const { request, ...rest } = pictures.chat.decodeRequest(bytes);
  return { ...rest, request: plainIn(bytes, request) };
}

/** @throws GatewayError as `ownRequest` */
export function readContentsPicturesJob({
  body,
}: Extract<Job, { kind: 'contents-pictures' }>): PlainContentsPictures {
  const bytes = asBuffer(body);
  const contents = pictures.contents;
  const own = contents.ownRequest(bytes);
  const request = factsOrRefusal(() => plainIn(bytes, contents.decodeRequest(bytes)));
  return { own, request };
}

/** @throws GatewayError as `decodeRequest` */
export function readImagesPicturesJob({
  body,
  opened,
}: Extract<Job, { kind: 'images-pictures' }>): PlainPictureRequest {
  const bytes = asBuffer(body);
  return plainIn(bytes, pictures.images.decodeRequest({ ...opened, body: bytes }));
}

/** @throws GatewayError as `editAsGeneration` */
export function editAsGenerationJob({
  body,
  request,
}: Extract<Job, { kind: 'edit-as-generation' }>): Promise<PlainGeneration> {
  return editAsGeneration({ ...request, body: asBuffer(body) });
}

function plainIn(body: Buffer, request: PictureRequest): PlainPictureRequest {
  const { sources, mask } = request;
  return {
    ...request,
    sources: sources.map((source) => plainSource(body, source)),
    mask: mask === null ? null : plainSource(body, mask),
  };
}

/** @param body the body in which the thread found its pictures */
export function pictureRequestOf(request: PlainPictureRequest, body: Buffer): PictureRequest {
  const { sources, mask } = request;
  const found = (source: PlainSource): PictureSource => sourceIn(body, source);
  return { ...request, sources: sources.map(found), mask: mask === null ? null : found(mask) };
}
