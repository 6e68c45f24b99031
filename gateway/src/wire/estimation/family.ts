import type { TextProtocolName } from '#canonical/index.ts';
import { byArea, byCrops, byPatches, byTiles, usualSize, type ImageRule } from './image-rules.ts';
import type { Outline } from './outline.ts';

/**
 * How many tokens a family of models needs for a request. Factors apply to the o200k_base count of the same text;
 * everything else is overhead added around it.
 */
export interface Family {
  readonly name: string;
  readonly said: number;
  readonly defined: number;
  readonly request: number;
  readonly turn: number;
  /** Per call, and per result. */
  readonly call: number;
  /** Instructions that come with any tool at all, and with each tool. */
  readonly tools: number;
  readonly tool: number;
  /** Per tool that the provider runs and describes itself. */
  readonly hostedTool: number;
  readonly format: number;
  readonly image: ImageRule;
  readonly pdfPage: number;
  readonly audioSecond: number;
  readonly videoSecond: number;
}

/** The upstream's name of a model, and the protocol used with it. */
export interface EstimateTarget {
  readonly model: string;
  readonly protocol: TextProtocolName;
}

/** For unknown models: what open models need, with some margin. */
const unknown: Family = {
  name: 'other',
  said: 1.1,
  defined: 1.1,
  request: 15,
  turn: 6,
  call: 5,
  tools: 130,
  tool: 15,
  hostedTool: 300,
  format: 5,
  // Open models use a token per 28 × 28 pixels, and some accept images up to this size.
  image: { ...byArea(4096, 4096), most: 16_384 },
  pdfPage: 1500,
  audioSecond: 32,
  videoSecond: 300,
};

const openai: Family = {
  ...unknown,
  name: 'openai',
  said: 1,
  defined: 1,
  request: 2,
  turn: 5,
  call: 8,
  tools: 15,
  tool: 5,
  format: 0,
  image: byTiles(85, 170),
  audioSecond: 10,
};

const anthropic: Family = {
  ...unknown,
  name: 'anthropic',
  said: 1.2,
  defined: 1.1,
  request: 6,
  turn: 2,
  call: 13,
  tools: 340,
  tool: 10,
  hostedTool: 1500,
  // The page as an image and its text are both counted.
  pdfPage: 4600,
  format: 125,
  image: byArea(1568, 1600),
};

interface Row {
  readonly match: RegExp;
  readonly protocol?: TextProtocolName;
  readonly family: Family;
}

/**
 * The first match by model name. The numbers come from recorded traffic (docs/token-estimates.md), chosen so that a
 * request is rather over- than underestimated; numbers for images and media come from the providers' documents.
 */
const table: readonly Row[] = [
  {
    match: /gpt-oss/,
    family: { ...openai, name: 'gpt-oss', request: 62, turn: 6, call: 5, tools: 25 },
  },
  { match: /gpt-4o-mini/, family: { ...openai, image: byTiles(2833, 5667) } },
  { match: /gpt-4\.1-mini/, family: { ...openai, image: byPatches(1536, 1.62) } },
  { match: /gpt-4\.1-nano/, family: { ...openai, image: byPatches(1536, 2.46) } },
  { match: /o4-mini/, family: { ...openai, image: byPatches(1536, 1.72) } },
  // Tools cost more in chat than in responses.
  {
    match: /gpt-5/,
    protocol: 'chat',
    family: { ...openai, defined: 1.3, tools: 45, tool: 35, call: 9, image: byPatches(2500, 2.46) },
  },
  { match: /gpt-5/, family: { ...openai, image: byPatches(2500, 2.46) } },
  { match: /gpt|chatgpt|codex|(^|\/)o\d/, family: openai },
  {
    match: /claude-(opus|sonnet|haiku)-4[-.][56]|claude-4[-.][56]/,
    family: { ...anthropic, said: 1.25, defined: 1.5, call: 25, tools: 500, tool: 40 },
  },
  // A third more for the same text: the vendor's "Token counting" page states it for everything from Opus 4.7 on.
  {
    match: /claude-[a-z]+-(4[-.][789]|[5-9])|claude-(4[-.][789]|[5-9])|claude-(fable|mythos)/,
    family: {
      ...anthropic,
      said: 1.55,
      defined: 1.5,
      request: 8,
      call: 25,
      tools: 330,
      pdfPage: 6000,
      image: byArea(2576, 4784),
    },
  },
  { match: /claude/, family: anthropic },
  {
    match: /gemini|gemma/,
    family: {
      ...unknown,
      name: 'gemini',
      defined: 1,
      request: 0,
      turn: 1,
      call: 25,
      tools: 20,
      tool: 10,
      hostedTool: 100,
      image: byCrops,
      pdfPage: 1290,
    },
  },
  {
    match: /grok/,
    family: { ...unknown, name: 'grok', said: 1, defined: 1.2, tools: 260, tool: 40 },
  },
  {
    match: /deepseek/,
    family: { ...unknown, name: 'deepseek', turn: 4, call: 30, tools: 240, tool: 10 },
  },
];

/** The family of a model, by its name. */
export function familyOf({ model, protocol }: EstimateTarget): Family {
  const name = model.toLowerCase();
  const row = table.find(
    (each) => each.match.test(name) && (each.protocol === undefined || each.protocol === protocol),
  );
  return row?.family ?? unknown;
}

/** Tokens of an image of usual size, for images that nobody has measured. */
export function usualImageTokens(target: EstimateTarget): number {
  return familyOf(target).image.of(usualSize, undefined);
}

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
