export { createAddressSet, networkOf, type AddressSet } from './address.ts';
export { NodeClientResponse } from './client-response.ts';
export type { ErrorResponder, UnexpectedErrorListener } from './error-response.ts';
export { isKnownHost, originOf } from './origin.ts';
export { ownHeaders, respond, respondJson } from './respond.ts';
export { createServer, type ServerOptions } from './server.ts';
export { listenOn } from './listen.ts';
export type { ErrorShape, RequestHead, Surface } from './surface.ts';
export { baseUrlHint, pathOf, withoutBase } from './surface.ts';
