import type { Surface } from '#http/index.ts';
import { textProtocols } from '#protocols/index.ts';

/** Gemini's API under its own prefix. */
export const geminiSurface: Surface = {
  prefix: '/v1beta/',
  base: '/v1beta',
  shape: textProtocols['generate-content'],
};
