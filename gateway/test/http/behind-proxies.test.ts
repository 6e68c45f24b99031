import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { shareGateway } from '../behaviour/support.ts';
import { password, setPassword } from '../console/people.ts';
import { freePort } from '../support/free-port.ts';
import type { Front, FrontOptions } from '../support/front.ts';
import { testKey } from '../support/gateway.ts';
import { isWithoutHaproxy, startHaproxy } from '../support/haproxy.ts';
import { isWithoutNginx, startNginx } from '../support/nginx.ts';
import {
  hiddenRequest,
  malformedRequests,
  misleadingRequests,
  wellFormedRequest,
} from './malformed-requests.ts';
import { raw } from './support.ts';

const meantPath = '/v1/chat/completions';
const hiddenPath = '/v1/messages';

/** A connection that is in order ends soon after its last response. */
interface Case {
  readonly name: string;
  readonly isMissing: boolean;
  readonly start: (options: FrontOptions) => Promise<Front>;
  readonly directives: string;
  /** What it reads without doubt and writes anew for the gateway: what the upstream is asked for then. Default: nothing. */
  readonly served: Readonly<Record<string, readonly string[]>>;
}

const fronts: readonly Case[] = [
  ...['on', 'off'].map((buffering) => ({
    name: `nginx with request buffering ${buffering}`,
    isMissing: isWithoutNginx,
    start: startNginx,
    directives: `proxy_request_buffering ${buffering}; keepalive_timeout 100ms;`,
    served: { 'bare LF': [meantPath], 'an endless chunk extension': [meantPath] },
  })),
  {
    name: 'HAProxy',
    isMissing: isWithoutHaproxy,
    start: startHaproxy,
    directives: 'timeout http-keep-alive 100ms\n    timeout http-request 300ms',
    served: {
      'bare LF': [meantPath],
      'a folded header': [meantPath],
      // It makes one of them, and serves what follows as the client's next request.
      'the same host twice': [meantPath, hiddenPath],
      // It goes by the chunks, as the standard says, and ends the connection after them.
      'length and chunks, which end earlier': [meantPath],
      // It passes these on whole, the gateway refuses them, and what follows them is the client's next request.
      'a NUL in a header': [hiddenPath],
      'no host': [hiddenPath],
      'two lengths in one': [hiddenPath],
    },
  },
];

const fixture = (name: string): string =>
  readFileSync(new URL(`./fixtures/localhost-${name}.pem`, import.meta.url), 'utf8');

/** As a page at `localhost` does. */
async function logInThrough(
  send: typeof https.request,
  address: { readonly host: string; readonly port: number },
): Promise<http.IncomingMessage> {
  const scheme = send === https.request ? 'https' : 'http';
  const request = send({
    ...address,
    method: 'POST',
    path: '/admin/v1/auth/login',
    rejectUnauthorized: false,
    headers: {
      host: 'localhost',
      origin: `${scheme}://localhost`,
      'content-type': 'application/json',
      connection: 'close',
    },
  });
  request.end(JSON.stringify({ email: 'tester@example.com', password }));
  const [response] = (await once(request, 'response')) as [http.IncomingMessage];
  await once(response.resume(), 'close');
  return response;
}

/** The status of each response that came. */
function statusesOf(response: string): string[] {
  return [...response.matchAll(/HTTP\/1\.[01] (\d{3}) /g)].map(([, status = '']) => status);
}

describe.each(fronts.filter(({ isMissing }) => !isMissing))(
  'S-24 behind $name',
  ({ start, directives, served }) => {
    const shared = shareGateway({ trustedProxies: ['127.0.0.1'] });
    const folder = mkdtempSync(join(tmpdir(), 'sluice-front-'));
    const tls = join(folder, 'tls.pem');
    let tlsPort = 0;
    let front: Front | null = null;
    beforeAll(async () => {
      const ports = [Number(new URL(shared.gateway.url).port)];
      await setPassword(shared.gateway, 'tester@example.com');
      writeFileSync(tls, `${fixture('cert')}${fixture('key')}`);
      tlsPort = await freePort();
      front = await start({ folder, ports, directives, tls: { port: tlsPort, file: tls } });
    });
    afterAll(async () => {
      await front?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    /** Everything that came back, and which paths the upstream was asked for meanwhile. */
    const send = async (bytes: string): Promise<{ response: string; asked: string[] }> => {
      const { simulator } = shared.gateway;
      simulator.clear();
      const response = await raw(front?.port ?? 0, Buffer.from(bytes, 'latin1'));
      return { response, asked: simulator.requests().map(({ path }) => path) };
    };
    /** Nothing was left on a connection that the proxy keeps to the gateway and gives to the next client. */
    const expectNextUnharmed = async (): Promise<void> => {
      const next = await send(wellFormedRequest(testKey));
      expect(next.response).toMatch(/^HTTP\/1\.1 200 .*\r\n\r\n.*"chat\.completion"/s);
      expect(next.asked).toEqual([meantPath]);
    };

    it('S-07 people sign in over https, and not over http', async () => {
      const own = { port: front?.port ?? 0, host: '127.0.0.1' };
      const overHttps = await logInThrough(https.request, { ...own, port: tlsPort });
      expect(overHttps.statusCode).toBe(200);
      expect(overHttps.headers['set-cookie']?.join()).toContain('__Host-sluice=');
      const overHttp = await logInThrough(http.request, own);
      expect(overHttp.statusCode).toBe(403);
    });

    it('a hidden request would be served by a server that accepts it as one', async () => {
      const { response, asked } = await send(wellFormedRequest(testKey) + hiddenRequest(testKey));
      expect(response.match(/HTTP\/1\.1 200 /g)).toHaveLength(2);
      expect(asked).toEqual([meantPath, hiddenPath]);
    });

    it.each(malformedRequests(testKey))('%s', async (name, bytes) => {
      const { response, asked } = await send(bytes);
      const expected = served[name] ?? [];
      expect(asked).toEqual(expected);
      const statuses = statusesOf(response);
      // One response for each request that the upstream was asked: none of them was hidden from the proxy.
      expect(statuses.filter((status) => status === '200')).toHaveLength(expected.length);
      // nginx has 501 for codings that it does not know.
      for (const status of statuses) expect(status).toMatch(/^(200|400|408|501)$/);
      expect(statuses.length).toBeLessThanOrEqual(expected.includes(hiddenPath) ? 2 : 1);
      await expectNextUnharmed();
    });

    it.each(misleadingRequests(testKey))('S-03 S-25 %s', async (_name, bytes) => {
      const { response, asked } = await send(bytes);
      // What the proxy rewrote or the path alone decides is the request that was meant; nothing else is one.
      const statuses = statusesOf(response);
      expect(statuses).toHaveLength(1);
      expect(statuses[0]).toMatch(/^(200|4\d\d)$/);
      expect(asked).toEqual(statuses[0] === '200' ? [meantPath] : []);
      await expectNextUnharmed();
    });
  },
);
