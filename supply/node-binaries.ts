import { createHash } from 'node:crypto';
import { createReadStream, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { root } from './lock.ts';

export interface NodeBinary {
  /** Inside the package. */
  readonly file: string;
  readonly sha256: string;
  /** Who signed the binary itself, checked when its checksum was recorded; null: unsigned. */
  readonly signedBy: string | null;
}

/** The version of Node that ships, and the binary of each platform's package. */
export const nodeBinaries = JSON.parse(readFileSync(join(root, 'supply/node.json'), 'utf8')) as {
  readonly version: string;
  readonly packages: Readonly<Record<string, NodeBinary>>;
};

/** The SHA-256 of a file, in hexadecimal. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}
