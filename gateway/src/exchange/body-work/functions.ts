import type { VideoProtocolName } from '#canonical/index.ts';
import { editAsGeneration, readConvertedImages, type ImageReading } from '#conversion/index.ts';
import type { ParseRoom } from '#json/index.ts';
import {
  embeddings,
  images,
  imageCodecs,
  videoProtocols,
  type ImagesRequest,
  type ModelEcho,
  type OpenedImages,
} from '#protocols/index.ts';

/*
 * What is done with the bodies of requests and responses, here or in a thread. Pure functions: data in, data out. Bytes
 * of a result may be parts of the body. Parsed JSON stays inside, as it may be many times the body.
 */

/** A body of the request. */
interface RequestBody {
  readonly body: Buffer;
  /** Bounds the memory of the parsed form. Absent: the thread's own bound applies. */
  readonly room?: ParseRoom | undefined;
}

/** What a step gave, or why it failed: the model is checked before the failure of the rest counts. */
export type Later<Value> = { readonly value: Value } | { readonly error: unknown };

export const functions = {
  /** @throws GatewayError for a body that does not name a model. */
  openEmbeddings({ body, room }: RequestBody) {
    const openedRequest = embeddings.openRequest(body, room);
    const request = later(() => {
      const read = embeddings.readRequest(openedRequest);
      return { ...read, members: namesOf(read.members) };
    });
    return { model: openedRequest.model, request };
  },

  /** @throws UnreadableResponse */
  readEmbeddings({ body, echo }: { readonly body: Buffer; readonly echo: ModelEcho }) {
    return embeddings.readResponse(body, echo);
  },

  /** @throws GatewayError for a body that does not name a model. */
  openImages({
    body,
    room,
    form,
    contentType,
  }: RequestBody & Pick<OpenedImages, 'form' | 'contentType'>): OpenedImages {
    return form === 'generation'
      ? images.openGeneration(body, room)
      : images.openEdit(body, contentType, room);
  },

  /** @throws UnreadableResponse */
  readImages({ body, echo }: { readonly body: Buffer; readonly echo: ModelEcho }) {
    return images.readResponse(body, echo);
  },

  /** @throws GatewayError for a body that does not name a model. */
  openVideo({ body, room, protocol }: RequestBody & { readonly protocol: VideoProtocolName }) {
    const { model, read } = videoProtocols[protocol].open(body, room);
    return { model, request: later(read) };
  },

  /** @throws UnreadableResponse */
  readConvertedImages({ body, ...reading }: ImageReading & { readonly body: Buffer }) {
    return readConvertedImages(body, reading);
  },

  /** @throws GatewayError */
  openChatImages({ body }: RequestBody) {
    return imageCodecs.chat.decodeRequest(body);
  },

  /** What cannot be read for another protocol may be right for this one. @throws GatewayError */
  openContentsImages({ body }: RequestBody) {
    const { contents } = imageCodecs;
    const own = contents.ownRequest(body);
    return { own, request: later(() => contents.decodeRequest(body)) };
  },

  /** @throws GatewayError */
  decodeImages({ body, ...request }: Parameters<typeof imageCodecs.images.decodeRequest>[0]) {
    return imageCodecs.images.decodeRequest({ ...request, body });
  },

  /** @throws GatewayError */
  editAsGeneration(request: ImagesRequest) {
    return editAsGeneration(request);
  },
};

/** @throws what the step has thrown */
export function valueOf<Value>(step: Later<Value>): Value {
  if ('error' in step) throw step.error;
  return step.value;
}

/** What the step gives, or how it fails. */
export function later<Value>(step: () => Value): Later<Value> {
  try {
    return { value: step() };
  } catch (error) {
    return { error };
  }
}

const mostNames = 1_000;
const longestName = 100;

/** Members of a body that an error may name, without their values: a bounded number of short names. */
export function namesOf(json: Readonly<Record<string, unknown>>): Record<string, undefined> {
  const names: Record<string, undefined> = Object.create(null) as Record<string, undefined>;
  let count = 0;
  for (const name in json) {
    if (name.length > longestName) continue;
    if (count === mostNames) break;
    names[name] = undefined;
    count += 1;
  }
  return names;
}
