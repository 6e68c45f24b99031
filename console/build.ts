import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';

/**
 * Builds the console into `console/dist`, with compressed copies of every file that they make smaller. Does nothing if no
 * source has changed since the last build. Without the packages for development it leaves everything as it is: the
 * gateway serves models without a console.
 */

const folder = import.meta.dirname;
const output = join(folder, 'dist');
const stampFile = join(output, 'stamp');
const sources = ['index.html', 'package.json', 'vite.config.ts', 'build.ts', 'src'];

function stampOf(): string {
  const hash = createHash('sha256');
  const add = (path: string): void => {
    if (statSync(path).isDirectory()) {
      for (const name of readdirSync(path).toSorted()) add(join(path, name));
      return;
    }
    hash.update(path.slice(folder.length)).update('\0').update(readFileSync(path)).update('\0');
  };
  for (const source of sources) add(join(folder, source));
  return hash.digest('hex');
}

async function compress(path: string): Promise<void> {
  const plain = readFileSync(path);
  const copies = [
    ['.gz', await promisify(gzip)(plain, { level: 9 })],
    [
      '.br',
      await promisify(brotliCompress)(plain, {
        params: { [constants.BROTLI_PARAM_SIZE_HINT]: plain.length },
      }),
    ],
  ] as const;
  for (const [ending, copy] of copies) {
    if (copy.length < plain.length) writeFileSync(path + ending, copy);
  }
}

const stamp = stampOf();
const isBuilt = existsSync(stampFile) && readFileSync(stampFile, 'utf8') === stamp;
if (!isBuilt) {
  const vite = await import('vite').catch(() => null);
  if (vite === null) {
    console.log('console: not built, because the packages for development are not installed');
  } else {
    await vite.build({ root: folder, logLevel: 'warn' });
    const files = readdirSync(output, { recursive: true, encoding: 'utf8' });
    const texts = files.filter((name) => ['.html', '.js', '.css', '.svg'].includes(extname(name)));
    await Promise.all(texts.map((name) => compress(join(output, name))));
    writeFileSync(stampFile, stamp);
  }
}
