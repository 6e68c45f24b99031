import type { Family } from './family.ts';
import { usualSize } from './image-rules.ts';
import type { Outline } from './outline.ts';

/** Tokens of texts in o200k_base. */
export interface TextCounts {
  readonly said: number;
  readonly defined: number;
}

/** Encrypted reasoning is longer than the text it hides: recordings show 9 to 26 characters per token. */
const hiddenPerToken = 12;

/** The number of tokens that a model of the family will count; a whole number ≥ 1. */
export function weigh(outline: Outline, texts: TextCounts, family: Family): number {
  const { tools, hostedTools, images } = outline;
  const sum =
    family.request +
    family.turn * outline.turns +
    family.call * outline.calls +
    family.said * texts.said +
    family.defined * texts.defined +
    (tools > 0 ? family.tools : 0) +
    family.tool * tools +
    family.hostedTool * hostedTools +
    (outline.hasFormat ? family.format : 0) +
    outline.hiddenState / hiddenPerToken +
    images.reduce(
      (total, { size, detail }) => total + family.image.of(size ?? usualSize, detail),
      0,
    ) +
    family.pdfPage * outline.pdfPages +
    family.audioSecond * outline.audioSeconds +
    family.videoSecond * outline.videoSeconds;
  return Math.max(1, Math.round(sum));
}
