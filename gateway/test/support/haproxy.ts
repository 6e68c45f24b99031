import { spawn, spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.ts';
import { answering, type Front, type FrontOptions } from './front.ts';

const program = ['/usr/sbin/haproxy', 'haproxy'].find(
  (path) => spawnSync(path, ['-v']).status === 0,
);
if (program === undefined && process.env['CI'] !== undefined) {
  throw new Error('no haproxy, which this run requires');
}

/** For `skipIf`: tests behind HAProxy cannot run on this machine. With `CI` set that is a failure of the file instead. */
export const isWithoutHaproxy = program === undefined;

const documentation = new URL('../../../docs/several-nodes.md', import.meta.url);

/**
 * With the very file of docs/several-nodes.md, at other addresses.
 * @param options `directives` stand at the end of the defaults
 */
export async function startHaproxy(options: FrontOptions): Promise<Front> {
  const { folder, ports, directives = '', tls } = options;
  const port = await freePort();
  const [, documented = ''] =
    /```haproxy\n([^]*?)```/.exec(readFileSync(documentation, 'utf8')) ?? [];
  const servers = ports.map((each, index) => `    server node${index} 127.0.0.1:${each}\n`);
  const file = join(folder, 'haproxy.cfg');
  writeFileSync(
    file,
    documented
      .replace(
        / +bind .*/,
        `    bind 127.0.0.1:${port}
    ${tls === undefined ? '' : `bind 127.0.0.1:${tls.port} ssl crt ${tls.file}`}`,
      )
      .replace('frontend', `    ${directives}\nfrontend`)
      .replaceAll(/^ +server .*\n/gm, '') + servers.join(''),
  );
  const child = spawn(program ?? '', ['-db', '-f', file], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => void (said += text));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  return answering({
    url: `http://127.0.0.1:${port}`,
    port,
    errors: () => said,
    sendsTo: (index) =>
      [...said.matchAll(/Server sluice\/node(\d+) is (UP|DOWN)/g)].findLast(
        ([, node]) => Number(node) === index,
      )?.[2] !== 'DOWN',
    async close() {
      child.kill('SIGTERM');
      await ended;
    },
  });
}
