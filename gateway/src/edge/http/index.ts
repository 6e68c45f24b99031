export { canonicalAddress, createAddressSet, type AddressSet } from './address.ts';
export { answer, answerJson } from './answer.ts';
export { createClientResponse, type NodeClientResponse } from './client-response.ts';
export { presentedKey, type Presented } from './credentials.ts';
export {
  type ErrorEncoders,
  type ErrorResponder,
  type UnexpectedErrorListener,
} from './error-response.ts';
export { isKnownHost } from './known-host.ts';
export { originOf } from './origin.ts';
export { createServer, type ServerOptions } from './server.ts';
export { listenOn, tryListening } from './listen.ts';
export { baseUrlHint, baseUrlSuffix, pathOf } from './target.ts';
