export { createContentDecoder } from './content-decoder.ts';
