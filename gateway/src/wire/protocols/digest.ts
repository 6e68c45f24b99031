import { hash } from 'node:crypto';

/** Hexadecimal digits derived from the parts alone, so that the same history gives the same ids. */
export function digest(length: number, ...parts: readonly (string | number)[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, length);
}
