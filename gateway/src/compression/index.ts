export { createContentDecoder, type ContentDecoder } from './content-decoder.ts';
