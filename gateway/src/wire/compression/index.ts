export { createContentDecoder, isInflated, type ContentDecoder } from './content-decoder.ts';
