export type { AnswerLosses } from './answer-losses.ts';
export type { AnswerReader } from './converted-answer.ts';
export {
  createConverter,
  type Conversion,
  type ConversionTarget,
  type ConvertedRequest,
  type Converter,
  type ConverterOptions,
} from './conversion.ts';
export { lossCodes, lossHeader } from './losses.ts';
export { MediaLeftAlone, MediaRefused, type FetchedMedia, type FetchMedia } from './media.ts';
export { carriesEnvelopes, stripEnvelopes } from './state/strip-envelopes.ts';
export type { StateSigner } from './state/envelope.ts';
