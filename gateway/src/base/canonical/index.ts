export type {
  AudioBlock,
  Block,
  Citation,
  FileBlock,
  ImageBlock,
  MediaSource,
  NativeState,
  OpaqueBlock,
  ReasoningBlock,
  RefusalBlock,
  TextBlock,
  TokenLogprob,
  ToolCallBlock,
  ToolResultBlock,
  VideoBlock,
} from './block.ts';
export type { ClientItem } from './client-item.ts';
export { noExtensions, type Extension, type Extensions } from './extension.ts';
export { Unconvertible, type Loss } from './loss.ts';
export {
  responseLossNames,
  lossNames,
  type ResponseLoss,
  type KnownLoss,
  type LossName,
} from './loss-names.ts';
export type { Surcharges } from './surcharges.ts';
export type { OperationName, TextOperationName } from './operation-name.ts';
export type { Image, ImageRequest, ImageResponse, ImageShape, ImageSource } from './image.ts';
export { isReferenceModel } from './reference-model.ts';
export {
  imageProtocolNames,
  protocolNames,
  telemetryOperation,
  textProtocolNames,
  videoProtocolNames,
  type ImageProtocolName,
  type ProtocolName,
  type TextProtocolName,
  type VideoProtocolName,
} from './protocol-name.ts';
export type {
  CustomTool,
  FunctionTool,
  GenerationRequest,
  HostedTool,
  OutputFormat,
  ReasoningEffort,
  ReasoningRequest,
  Tool,
  ToolChoice,
  Turn,
} from './request.ts';
export { reasoningEfforts } from './request.ts';
export type {
  Candidate,
  Finish,
  FinishReason,
  GenerationEvent,
  GenerationResponse,
} from './response.ts';
export {
  apartParts,
  tokenPartNames,
  tokenParts,
  type ApartPart,
  type TokenPart,
} from './token-parts.ts';
export {
  lacks,
  noTokens,
  saysNothing,
  type ApartTokens,
  type Iteration,
  type ReportedUsage,
  type TokenCounts,
  type TokenUsage,
} from './token-usage.ts';
export type {
  TaskFailure,
  TaskLook,
  TaskMembers,
  TaskState,
  TaskUsage,
  TaskView,
  VideoDemand,
  VideoResolution,
} from './video.ts';
