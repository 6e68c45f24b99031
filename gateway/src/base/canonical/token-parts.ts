/**
 * The parts of a price per token: the name of each in code, and its name in files, receipts and APIs. The order is that
 * of stored prices, whose text decides their identity, so a new part goes at the end.
 */
export const tokenParts = {
  input: 'input',
  cacheRead: 'cache_read',
  cacheWrite: 'cache_write',
  cacheWrite1h: 'cache_write_1h',
  output: 'output',
  inputImage: 'input_image',
  outputImage: 'output_image',
  inputAudio: 'input_audio',
  cacheReadAudio: 'cache_read_audio',
  outputAudio: 'output_audio',
  cacheReadImage: 'cache_read_image',
} as const;

export type TokenPart = keyof typeof tokenParts;

export const tokenPartNames = Object.keys(tokenParts) as readonly TokenPart[];

/** The parts for tokens that are not text. */
export const apartParts = [
  'inputImage',
  'inputAudio',
  'cacheReadImage',
  'cacheReadAudio',
  'outputImage',
  'outputAudio',
] as const satisfies readonly TokenPart[];

export type ApartPart = (typeof apartParts)[number];
