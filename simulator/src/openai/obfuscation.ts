import { isObject, type JsonObject } from '../json.ts';

/**
 * Padding that hides the length of a delta from observers of the connection. This vendor adds it
 * unless `stream_options.include_obfuscation` is false. A gateway must tolerate it.
 */
export function obfuscate(piece: string): { readonly obfuscation: string } {
  return { obfuscation: 'x'.repeat(16 - (piece.length % 16)) };
}

export function wantsObfuscation(body: JsonObject): boolean {
  const options = body['stream_options'];
  return !isObject(options) || options['include_obfuscation'] !== false;
}
