import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { answering, type Front, type FrontOptions } from './front.ts';

const program = ['/usr/sbin/nginx', 'nginx'].find((path) => spawnSync(path, ['-v']).status === 0);
if (program === undefined && process.env['CI'] !== undefined) {
  throw new Error('no nginx, which this run requires');
}

/** For `skipIf`: tests behind nginx cannot run on this machine. With `CI` set that is a failure of the file instead. */
export const isWithoutNginx = program === undefined;

const documentation = new URL('../../../docs/several-nodes.md', import.meta.url);

/**
 * With the very configuration of docs/several-nodes.md, at other addresses.
 * @param options `directives` are lines of the server
 */
export async function startNginx(options: FrontOptions): Promise<Front> {
  const { folder, ports, directives = '', tls } = options;
  const port = await freePort();
  const [, documented = ''] =
    /```nginx\n([^]*?)```/.exec(readFileSync(documentation, 'utf8')) ?? [];
  const site = documented
    .replaceAll(/(?:^ +server [\d.:]+.*\n)+/gm, (servers) => {
      const [, parameters = ''] = /server \S+(.*)/.exec(servers) ?? [];
      return ports.map((each) => `    server 127.0.0.1:${each}${parameters}\n`).join('');
    })
    .replaceAll(/^ +ssl_.*\n/gm, '')
    .replace(/(proxy_next_upstream_tries) \d+/, `$1 ${ports.length}`)
    .replace(
      'listen 443 ssl;',
      `listen 127.0.0.1:${port};
    ${tls === undefined ? '' : `listen 127.0.0.1:${tls.port} ssl; ssl_certificate ${tls.file}; ssl_certificate_key ${tls.file};`}
    ${directives}`,
    );
  const file = join(folder, 'nginx.conf');
  writeFileSync(
    file,
    `
daemon off;
worker_processes 1;
pid ${folder}/nginx.pid;
error_log ${folder}/nginx-error.log error;
events { worker_connections 512; }
http {
  access_log off;
  client_body_temp_path ${folder}/body;
  proxy_temp_path ${folder}/proxy;
  fastcgi_temp_path ${folder}/fastcgi;
  uwsgi_temp_path ${folder}/uwsgi;
  scgi_temp_path ${folder}/scgi;
${site}
}
`,
  );
  const child = spawn(program ?? '', ['-p', folder, '-c', file], { stdio: 'ignore' });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return answering({
    url: `http://127.0.0.1:${port}`,
    port,
    errors: () => readFileSync(join(folder, 'nginx-error.log'), 'utf8'),
    // It finds out by trying.
    sendsTo: () => true,
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  });
}
