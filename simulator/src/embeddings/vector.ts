import { createRandom } from '../faults/random.ts';
import { identify } from '../scenario/identity.ts';
import { mostDimensions, type Input } from './validate.ts';

/** A vector of length 1, derived from the input alone: equal inputs have equal vectors. */
export function vectorOf(input: Input, dimensions: number | null): Float32Array {
  const digest = identify(Buffer.from(JSON.stringify(input)));
  const random = createRandom(Number.parseInt(digest.slice(0, 8), 16));
  const vector = Float32Array.from(
    { length: dimensions ?? mostDimensions },
    () => random() * 2 - 1,
  );
  const length = Math.hypot(...vector);
  return vector.map((part) => part / length);
}

/** The form for `encoding_format: base64`: 32-bit numbers, low byte first. */
export function encodeBase64(vector: Float32Array): string {
  const bytes = Buffer.alloc(vector.length * 4);
  vector.forEach((part, index) => bytes.writeFloatLE(part, index * 4));
  return bytes.toString('base64');
}
