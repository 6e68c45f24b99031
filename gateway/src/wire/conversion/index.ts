export type { ResponseLosses } from './response-losses.ts';
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
export { lossCodes, lossHeader } from './losses.ts';
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
  convertPictureRequest,
  type ConvertedPictureRequest,
  type PictureConversion,
} from './pictures/convert-pictures.ts';
export { editAsGeneration } from './pictures/edit-as-generation.ts';
export { fetchPictures } from './pictures/fetch-pictures.ts';
export { measurePictures } from './pictures/recode.ts';
export {
  readPictures,
  type PictureReading,
  type ReadPictures,
} from './pictures/convert-pictures.ts';
