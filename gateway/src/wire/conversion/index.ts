export type { AnswerLosses } from './answer-losses.ts';
export type { AnswerReader } from './converted-answer.ts';
export {
  createConverter,
  type AnswerReading,
  type Conversion,
  type ConversionTarget,
  type ConvertedBody,
  type ConvertedExchange,
  type ConvertedRequest,
  type Converter,
  type ConverterOptions,
} from './conversion.ts';
export { lossCodes, lossHeader } from './losses.ts';
export { MediaLeftAlone, MediaRefused, type FetchedMedia, type FetchMedia } from './media.ts';
export { carriesEnvelopes, stripEnvelopes, withoutEnvelopes } from './state/strip-envelopes.ts';
export { createStateSealer, type StateKeys, type StateSealer } from './state/sealer.ts';
export { createStateStore, type KeptState, type StateStore } from './state/state-store.ts';
export type { AnswerTerms } from './answer-terms.ts';
