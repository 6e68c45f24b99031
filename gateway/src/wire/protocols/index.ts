import type { TextProtocolName, VideoProtocolName } from '#canonical/index.ts';
import { chat, chatCodec } from './chat/index.ts';
import type { Codec } from './codec.ts';
import { generateContent, generateContentCodec } from './generate-content/index.ts';
import { messages, messagesCodec } from './messages/index.ts';
import type { PatchedRequest, Protocol, WireRequest } from './protocol.ts';
import { applyQuirks } from './shared/text/apply-quirks.ts';
import { capOutput } from './shared/text/cap-output.ts';
import { responses, responsesCodec } from './responses/index.ts';
import { withoutState } from './shared/state/without-state.ts';
import { videoContents, videoContentsList } from './video-contents/index.ts';
import { videoSynthesis } from './video-synthesis/index.ts';
import type { VideoList, VideoProtocol } from './shared/video/video.ts';

export { applyQuirks } from './shared/text/apply-quirks.ts';
export { capOutput } from './shared/text/cap-output.ts';
export * from './codec.ts';
export {
  brokenEndingError,
  brokenEndingIn,
  isWellEnded,
  withUnknownEnding,
} from './shared/text/endings.ts';
export { digest } from './shared/values.ts';
export {
  embeddings,
  type EmbeddingsRequest,
  type EmbeddingsResponse,
  type OpenedEmbeddings,
} from './embeddings/index.ts';
export {
  images,
  type ImageEntry,
  type ImageEventNames,
  type ImageFile,
  type ImagePieceReader,
  type ImagesRequest,
  type ImagesResponse,
  type ImageStreamContext,
  type ImagesStreamTap,
  type OpenedImages,
  type ScannedImages,
} from './images/index.ts';
export { isEnvelope } from './shared/state/without-state.ts';
export { isPublicAddress } from './shared/images/public-address.ts';
export * from './protocol.ts';
export type { TextFacts } from './facts.ts';
export { textFacts } from './text-facts.ts';
export { encodeTokenCount, readTokenCount } from './shared/text/parse-bodies.ts';
export { invalid } from './shared/text/request-values.ts';
export {
  bytesPerToken,
  estimateInputTokens,
  estimateOutputTokens,
  estimateTokens,
} from './shared/usage/token-estimate.ts';
export { isExactNumber, parseExact, parsePassingOn, passingOn } from './shared/exact-json.ts';
export type { NamedState, StateKind, StateName } from './shared/state/named-state.ts';
export { imageCodecs, imageSides, type ImageClient } from './image-codecs.ts';
export { type EventPieces, eventOf, type ImageStreamTap } from './shared/images/image-stream.ts';
export type { ChatImageRequest } from './chat/images/decode-request.ts';
export type { EncodedImages, ImageTarget } from './images/canonical/encode-request.ts';
export { ownItems, type NamedItem } from './responses/own-items.ts';
export { fittingType } from './shared/images/media-type.ts';
export { planToolNames } from './shared/tools/tool-names.ts';
export type {
  OpenVideo,
  VideoList,
  VideoListQuery,
  VideoProtocol,
  VideoRequest,
} from './shared/video/video.ts';
export { encodeError as encodeContentsError } from './video-contents/index.ts';
export { encodeError as encodeSynthesisError } from './video-synthesis/index.ts';
export { mergeReports } from './shared/usage/usage-numbers.ts';
export { isRecord, type JsonRecord } from './shared/values.ts';

export { skipSignature } from './shared/state/without-state.ts';

/** The id of the rewrite that left out reasoning state which the upstream refused. */
export const stateRewrite = 's1';

/**
 * What a vendor refuses is edited in every protocol alike, after the protocol's own patches, and reasoning state of others is
 * left out before them.
 */
function withQuirks(protocol: Protocol): Protocol {
  const { name } = protocol;
  return Object.freeze({
    ...protocol,
    patchRequest(received, target): PatchedRequest {
      const { withoutState: most = 0, quirks = [], outputCap } = target;
      const { request, leftOut } =
        most === 0 ? { request: received, leftOut: 0 } : readWithoutState(protocol, received, most);
      let patched = protocol.patchRequest(request, target);
      if (quirks.length > 0) patched = applyQuirks(patched, quirks, request.json);
      if (outputCap !== undefined && request.path.operation === 'generate') {
        patched = capOutput(patched, name, outputCap);
      }
      if (leftOut === 0) return patched;
      return { ...patched, rewrites: [...patched.rewrites, stateRewrite], leftOutStates: leftOut };
    },
  } satisfies Protocol);
}

/** The request without the oldest reasoning state of its history, and how many carriers of it were left out. */
function readWithoutState(protocol: Protocol, request: WireRequest, most: number) {
  const { json, leftOut } = withoutState(protocol, request.json, most);
  if (leftOut === 0) return { request, leftOut };
  const body = Buffer.from(JSON.stringify(json));
  return { request: protocol.readRequest(protocol.openRequest(body, request.path)), leftOut };
}

/** The wire formats of the text endpoints. */
export const textProtocols: Readonly<Record<TextProtocolName, Protocol>> = Object.freeze({
  chat: withQuirks(chat),
  responses: withQuirks(responses),
  messages: withQuirks(messages),
  'generate-content': withQuirks(generateContent),
});

/** Their conversions to and from the canonical model. */
export const textCodecs: Readonly<Record<TextProtocolName, Codec>> = Object.freeze({
  chat: chatCodec,
  responses: responsesCodec,
  messages: messagesCodec,
  'generate-content': generateContentCodec,
});

/** The dialects of video tasks. */
export const videoProtocols: Readonly<Record<VideoProtocolName, VideoProtocol>> = Object.freeze({
  'video-synthesis': videoSynthesis,
  'video-contents': videoContents,
});

/** Only the second dialect lists tasks. */
export const videoList: VideoList = videoContentsList;
