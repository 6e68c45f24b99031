import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';

const gateway = path.resolve(import.meta.dirname, '../..');

const manifest = JSON.parse(readFileSync(path.join(gateway, 'package.json'), 'utf8')) as {
  readonly imports: Readonly<Record<string, string>>;
};

/** `#name/` and the folder it stands for. */
const rooms = Object.entries(manifest.imports).map(
  ([name, target]) => [name.slice(0, -1), path.posix.normalize(target.slice(0, -1))] as const,
);

const ofTests = '.test.ts';
const specifier = /\b(?:from|import|import\()\s*'([.#][^']+)'/g;

/**
 * Which files of the gateway import which, without tests; paths below `gateway/`. Includes imports of types: the
 * compiler drops them, a reader does not.
 */
export function readImports(): ReadonlyMap<string, readonly string[]> {
  const files = globSync('{importers,src}/**/*.{ts,js}', { cwd: gateway }).filter(
    (file) => !file.endsWith(ofTests),
  );
  return new Map(files.map((file) => [file, importsIn(file)]));
}

function importsIn(file: string): string[] {
  const text = readFileSync(path.join(gateway, file), 'utf8');
  return Array.from(text.matchAll(specifier), ([, name = '']) => resolve(name, file));
}

function resolve(name: string, file: string): string {
  if (name.startsWith('.')) return path.posix.join(path.posix.dirname(file), name);
  const [room, folder] = rooms.find(([prefix]) => name.startsWith(prefix)) ?? [];
  return room === undefined ? name : `${folder}${name.slice(room.length)}`;
}
