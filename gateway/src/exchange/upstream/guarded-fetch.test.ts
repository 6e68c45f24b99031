import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buildConnector } from 'undici';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterEach, describe, expect, onTestFinished, test } from 'vitest';
import { startForwardProxy } from '#test/support/forward-proxy.ts';
import { createGuardedFetch, FetchRefused, type MediaOrder } from './guarded-fetch.ts';
import { createProxies } from './proxies.ts';

const fixture = (name: string) =>
  readFileSync(new URL(`../../../test/http/fixtures/localhost-${name}.pem`, import.meta.url));
const bounds = { keyId: 'key_1', timeout: 10_000, maxBytes: 2 ** 20 };
const publicAddress = '93.184.216.34';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

/** A host on this machine that the fetcher believes to be in public. */
async function serve(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  options: Partial<MediaOrder> & { readonly hosts?: Record<string, string[][]> } = {},
) {
  const requests: IncomingMessage[] = [];
  const connections: string[] = [];
  server = createServer({ cert: fixture('cert'), key: fixture('key') }, (request, response) => {
    requests.push(request);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server?.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dial = buildConnector({ rejectUnauthorized: false, allowH2: false });
  const asked: string[] = [];
  const guarded = createGuardedFetch({
    resolve: async (host) => {
      asked.push(host);
      if (host === 'localhost') return [];
      const addresses = options.hosts?.[host];
      return (addresses === undefined ? [publicAddress] : addresses.shift()) ?? [];
    },
    connect: (target, callback) => {
      connections.push(target.hostname);
      dial({ ...target, hostname: '127.0.0.1', port: String(port) }, callback);
    },
  });
  const fetchMedia = (url: string, more: Partial<MediaOrder> = {}) =>
    guarded({ ...bounds, ...options, ...more, url }, async ({ mime, pieces }) => {
      const all: Buffer[] = [];
      for await (const piece of pieces) all.push(piece);
      return { mime, bytes: Buffer.concat(all) };
    });
  return { fetchMedia, requests, connections, asked };
}

const image = (_: IncomingMessage, response: ServerResponse) =>
  void response.writeHead(200, { 'content-type': 'Image/PNG; q=1' }).end('bytes');

describe('S-17 a stranger’s address', () => {
  test('in public is fetched, without anything of ours', async () => {
    const { fetchMedia, requests, connections } = await serve(image);
    const media = await fetchMedia('https://pictures.example/a.png?x=1');
    expect(media).toEqual({ mime: 'image/png', bytes: Buffer.from('bytes') });
    expect(connections).toEqual([publicAddress]);
    const { url, headers } = requests[0]!;
    expect(url).toBe('/a.png?x=1');
    expect(headers.host).toBe('pictures.example');
    expect(headers.authorization ?? headers.cookie).toBeUndefined();
  });

  test.each([
    'http://pictures.example/a.png',
    'ftp://pictures.example/a.png',
    'file:///etc/passwd',
    'data:image/png;base64,AAAA',
    'https://user:secret@pictures.example/a.png',
    'no address',
    'https://127.0.0.1/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0177.0.0.1/',
    'https://0x7f.1/',
    'https://127.0.0.1./',
    'https://①②⑦.0.0.1/',
    'https://169.254.169.254/latest/meta-data/',
    'https://[::1]/',
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:a00:1]/',
    'https://[64:ff9b::7f00:1]/',
    'https://[fe80::1]/',
    'https://0/',
  ])('%s is refused', async (url) => {
    const { fetchMedia, connections } = await serve(image);
    await expect(fetchMedia(url)).rejects.toThrow(FetchRefused);
    expect(connections).toEqual([]);
  });

  test.each([
    ['127.0.0.1.nip.io', ['127.0.0.1']],
    ['localhost.', ['127.0.0.1']],
    ['half.example', [publicAddress, '10.0.0.1']],
    ['mapped.example', ['::ffff:10.0.0.1']],
    ['nowhere.example', []],
  ])('a name, %s, that resolves to %s is refused', async (host, addresses) => {
    const { fetchMedia, connections } = await serve(image, { hosts: { [host]: [addresses] } });
    await expect(fetchMedia(`https://${host}/`)).rejects.toThrow(FetchRefused);
    expect(connections).toEqual([]);
  });

  test('that is unknown, and one that is not public, are refused alike', async () => {
    const hosts = { 'nowhere.example': [[]], 'inside.example': [['10.0.0.1']] };
    const { fetchMedia } = await serve(image, { hosts });
    const told = await Promise.all(
      ['nowhere.example', 'inside.example', '10.0.0.1', 'localhost'].map((host) =>
        fetchMedia(`https://${host}/`).catch(({ message }: Error) => message),
      ),
    );
    expect(new Set(told)).toEqual(new Set(['its host has no public address']));
  });

  test('is resolved once: a second answer of the resolver does not matter', async () => {
    const hosts = { 'rebinding.example': [[publicAddress], ['127.0.0.1']] };
    const { fetchMedia, connections, asked } = await serve(image, { hosts });
    await fetchMedia('https://rebinding.example/');
    expect(asked).toEqual(['rebinding.example']);
    expect(connections).toEqual([publicAddress]);
  });
});

describe('S-17 redirects', () => {
  const redirect = (to: string) => (request: IncomingMessage, response: ServerResponse) =>
    request.url === '/end'
      ? image(request, response)
      : void response.writeHead(302, { location: to }).end();

  test('are followed in public', async () => {
    const { fetchMedia, connections } = await serve(redirect('/end'));
    expect((await fetchMedia('https://pictures.example/')).mime).toBe('image/png');
    expect(connections).toHaveLength(2);
  });

  test.each([
    'https://169.254.169.254/end',
    'https://inside.example/end',
    'http://pictures.example/end',
  ])('to %s are refused', async (to) => {
    const hosts = { 'inside.example': [['10.0.0.1']] };
    const { fetchMedia, connections } = await serve(redirect(to), { hosts });
    await expect(fetchMedia('https://pictures.example/')).rejects.toThrow(FetchRefused);
    expect(connections).toEqual([publicAddress]);
  });

  test('end after three', async () => {
    const { fetchMedia, requests } = await serve(redirect('/again'));
    await expect(fetchMedia('https://pictures.example/')).rejects.toThrow('too many redirects');
    expect(requests).toHaveLength(4);
  });
});

describe('S-17 limits', () => {
  test.each([
    ['announced', { 'content-length': '2000' }],
    ['not announced', {}],
  ])('a size that is %s', async (_, headers) => {
    const { fetchMedia } = await serve(
      (_request, response) =>
        void response
          .writeHead(200, { 'content-type': 'image/png', ...headers })
          .end('x'.repeat(2000)),
      { maxBytes: 1999 },
    );
    await expect(fetchMedia('https://pictures.example/')).rejects.toThrow('larger');
  });

  test('time, for the whole fetch', async () => {
    const never = new Promise<never>(() => {});
    const slow = await serve(
      (_request, response) =>
        void response.writeHead(200, { 'content-type': 'image/png' }).write('x'),
      { timeout: 100 },
    );
    await expect(slow.fetchMedia('https://pictures.example/')).rejects.toThrow('too long');
    const unresolved = createGuardedFetch({ resolve: () => never });
    const order = { ...bounds, url: 'https://pictures.example/', timeout: 50 };
    await expect(unresolved(order, () => never)).rejects.toThrow('too long');
  });

  test('fetches of one key: more wait, those of another key do not', async () => {
    const waiting: ServerResponse[] = [];
    const { fetchMedia, requests } = await serve((_request, response) => {
      waiting.push(response);
    });
    const own = Array.from({ length: 9 }, () => fetchMedia('https://pictures.example/'));
    await expect.poll(() => waiting.length).toBe(8);
    const other = fetchMedia('https://pictures.example/', { keyId: 'key_2' });
    await expect.poll(() => waiting.length).toBe(9);
    expect(requests).toHaveLength(9);
    const end = (response: ServerResponse) => image(requests[0]!, response);
    for (const response of waiting) end(response);
    await other;
    await expect.poll(() => waiting.length).toBe(10);
    end(waiting[9]!);
    await Promise.all(own);
  });

  test('a caller that waits no longer', async () => {
    const abort = new AbortController();
    const { fetchMedia, requests } = await serve(() => {}, { signal: abort.signal });
    const fetching = fetchMedia('https://pictures.example/');
    await expect.poll(() => requests.length).toBe(1);
    abort.abort(new Error('gone'));
    await expect(fetching).rejects.toThrow('gone');
  });

  test.each(['text/html', 'application/json', 'image/svg+xml,text/html', ''])(
    'type %j',
    async (type) => {
      const { fetchMedia } = await serve(
        (_request, response) => void response.writeHead(200, { 'content-type': type }).end('x'),
      );
      await expect(fetchMedia('https://pictures.example/')).rejects.toThrow('not an image');
    },
  );

  test('a malformed response', async () => {
    const { fetchMedia } = await serve((_request, response) => void response.writeHead(404).end());
    await expect(fetchMedia('https://pictures.example/')).rejects.toThrow(FetchRefused);
  });
});

describe('what an upstream names as its result', () => {
  const file = (_: IncomingMessage, response: ServerResponse) =>
    void response.writeHead(200, { 'content-type': 'binary/octet-stream' }).end('bytes');
  const ofUpstream = { isUnrestricted: true, ownOrigin: 'https://10.1.2.3:8443' };

  test('may have any type; a client’s may not', async () => {
    const { fetchMedia } = await serve(file);
    const result = await fetchMedia('https://videos.example/1', ofUpstream);
    expect(result.mime).toBe('application/octet-stream');
    await expect(fetchMedia('https://videos.example/1')).rejects.toThrow('not an image');
  });

  test('is fetched from the upstream’s own origin, and from no other that is not public', async () => {
    const { fetchMedia, connections } = await serve(image);
    await fetchMedia('https://10.1.2.3:8443/v.mp4', ofUpstream);
    expect(connections).toEqual(['10.1.2.3']);
    for (const url of [
      'https://10.1.2.3/v.mp4',
      'http://10.1.2.3:8443/v.mp4',
      'https://10.1.2.4:8443/v.mp4',
      'http://127.0.0.1/',
      'ftp://videos.example/1',
      'file:///etc/passwd',
    ]) {
      await expect(fetchMedia(url, ofUpstream)).rejects.toThrow(FetchRefused);
    }
    expect(connections).toEqual(['10.1.2.3']);
  });

  test('a redirect from the own origin leads to public hosts only', async () => {
    const { fetchMedia, connections } = await serve(
      (_, response) => void response.writeHead(302, { location: 'https://10.1.2.4/' }).end(),
    );
    const redirected = fetchMedia('https://10.1.2.3:8443/v.mp4', ofUpstream);
    await expect(redirected).rejects.toThrow('no public address');
    expect(connections).toEqual(['10.1.2.3']);
  });
});

describe('behind a proxy', () => {
  const behindProxy = async (hosts: Record<string, string>) => {
    const secure = createServer({ cert: fixture('cert'), key: fixture('key') }, image);
    server = secure;
    await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve));
    const usual = getCACertificates('default');
    setDefaultCACertificates([...usual, fixture('cert').toString()]);
    onTestFinished(() => setDefaultCACertificates(usual));
    const tunnelTo = `127.0.0.1:${(secure.address() as AddressInfo).port}`;
    const proxy = await startForwardProxy({ tunnelTo });
    onTestFinished(() => proxy.close());
    const fetchMedia = createGuardedFetch({
      resolve: async (host) => [hosts[host] ?? publicAddress],
      proxies: createProxies({ http: proxy.url, https: proxy.url, direct: [] }),
    });
    return {
      proxy,
      fetchMedia: (url: string) => fetchMedia({ ...bounds, url }, async ({ mime }) => mime),
    };
  };

  test('the proxy gets the checked address, and the certificate must be for the name', async () => {
    const { proxy, fetchMedia } = await behindProxy({});
    expect(await fetchMedia('https://localhost/a.png')).toBe('image/png');
    expect(proxy.asked).toEqual([`CONNECT ${publicAddress}:443`]);
    await expect(fetchMedia('https://other.example/a.png')).rejects.toThrow(FetchRefused);
  });

  test('a host without a public address is refused before the proxy is asked', async () => {
    const { proxy, fetchMedia } = await behindProxy({ 'inside.example': '10.0.0.1' });
    for (const url of ['https://inside.example/', 'https://127.0.0.1/', 'https://[::1]/']) {
      await expect(fetchMedia(url)).rejects.toThrow('no public address');
    }
    expect(proxy.asked).toEqual([]);
  });
});
