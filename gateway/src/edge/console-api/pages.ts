import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { respond } from '#http/index.ts';
import { GatewayError } from '#errors/index.ts';

interface File {
  readonly type: string;
  readonly plain: Buffer;
  /** As built; a kind that is absent does not make the file smaller. */
  readonly br: Buffer | null;
  readonly gzip: Buffer | null;
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.json': 'application/json',
};

const common = [
  'content-security-policy',
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; " +
    "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; " +
    "require-trusted-types-for 'script'",
  'x-content-type-options',
  'nosniff',
  'referrer-policy',
  'no-referrer',
  'vary',
  'accept-encoding',
];

const notBuilt = `<!doctype html>
<html lang="en">
  <head><meta charset="utf-8" /><meta http-equiv="refresh" content="2" /><title>Sluice</title></head>
  <body>
    <h1>Sluice</h1>
    <p>The gateway is running. Its console is being built, and appears here by itself.</p>
    <p>If it has not appeared within a minute, run <code>npm run console:build</code> to see why.</p>
  </body>
</html>
`;

/**
 * The console's pages. They need no key: signing in happens on them. Every address below `/console`
 * except those of files is the page itself, which reads its own address.
 * @param folder with the built files
 */
export function consolePages(folder: URL) {
  return function pages(scope: FastifyInstance, _options: object, done: () => void): void {
    let files: ReadonlyMap<string, File> | null = null;

    /** From memory: no path of a request ever reaches the disk. */
    const find = (name: string): File | undefined => {
      // The last file that a build writes.
      files ??= existsSync(new URL('stamp', folder)) ? readFiles(folder) : null;
      return files?.get(name);
    };

    const showPage = (request: FastifyRequest, reply: FastifyReply): void => {
      const page = find('index.html');
      const headers = [...common, 'cache-control', 'no-cache'];
      if (page !== undefined) sendFile(request, reply, page, headers);
      else respond(request, reply, 503, types['.html']!, notBuilt, headers);
    };

    scope.get('/console', showPage);
    scope.get('/console/*', { config: { isUnlisted: true } }, (request, reply) => {
      const { '*': name } = request.params as { readonly '*': string };
      if (!name.startsWith('assets/')) {
        showPage(request, reply);
        return;
      }
      const file = find(name);
      if (file === undefined) throw new GatewayError('not_found');
      sendFile(request, reply, file, [
        ...common,
        'cache-control',
        'public, max-age=31536000, immutable',
      ]);
    });
    done();
  };
}

function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { type, plain, br, gzip }: File,
  headers: readonly string[],
): void {
  const acceptedEncodings = request.headers['accept-encoding'] ?? '';
  if (br !== null && /\bbr\b/.test(acceptedEncodings)) {
    respond(request, reply, 200, type, br, [...headers, 'content-encoding', 'br']);
  } else if (gzip !== null && /\bgzip\b/.test(acceptedEncodings)) {
    respond(request, reply, 200, type, gzip, [...headers, 'content-encoding', 'gzip']);
  } else {
    respond(request, reply, 200, type, plain, headers);
  }
}

function readFiles(folder: URL): ReadonlyMap<string, File> {
  const files = new Map<string, File>();
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const read = (name: string) => readFileSync(new URL(name, folder));
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined) continue;
    const compressedFile = (ending: string) =>
      names.includes(name + ending) ? read(name + ending) : null;
    files.set(name.replaceAll('\\', '/'), {
      type,
      plain: read(name),
      br: compressedFile('.br'),
      gzip: compressedFile('.gz'),
    });
  }
  return files;
}
