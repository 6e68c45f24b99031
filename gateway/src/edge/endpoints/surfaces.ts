import type { Surface } from '#http/index.ts';
import { anthropicSurface } from './anthropic/surface.ts';
import { geminiSurface } from './gemini/surface.ts';
import { openaiSurfaces } from './openai/surface.ts';
import { videoContentsSurface } from './video-contents/surface.ts';
import { videoSynthesisSurfaces } from './video-synthesis/surface.ts';

/** Every client API. */
export const surfaces: readonly Surface[] = [
  ...openaiSurfaces,
  anthropicSurface,
  geminiSurface,
  ...videoSynthesisSurfaces,
  videoContentsSurface,
];
