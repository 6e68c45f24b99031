export { type ResponseLosses, lossCodes, lossHeader } from './losses.ts';
export type { ResponseReader } from './converted-tap.ts';
export {
  createConverter,
  type ResponseReading,
  type Conversion,
  type ConversionTarget,
  type ConvertedBody,
  type ConvertedExchange,
  type ConvertedRequest,
  type Converter,
  type ConverterOptions,
} from './conversion.ts';
export {
  fetchWanted,
  MediaRefused,
  MediaWanted,
  type FetchedMedia,
  type FetchMedia,
  type FoundMedia,
  type WantedMedia,
} from './media.ts';
export { carriesEnvelopes, stripEnvelopes, withoutEnvelopes } from './state/strip-envelopes.ts';
export { createStateSealer, type StateSealer } from './state/sealer.ts';
export type { StateMaker } from './state/envelope.ts';
export type { ReasoningPlace } from './state/own-reasoning.ts';
export { createStateStore, type KeptState, type StateStore } from './state/state-store.ts';
export type { ResponseTerms } from './response-context.ts';
export {
  convertImageRequest,
  type ConvertedImageRequest,
  type ImageConversion,
  readConvertedImages,
  type ImageReading,
  type ReadImages,
} from './images/convert-images.ts';
export { editAsGeneration } from './images/edit-as-generation.ts';
export { fetchImages } from './images/fetch-images.ts';
export { inspectImages } from './images/recode.ts';
