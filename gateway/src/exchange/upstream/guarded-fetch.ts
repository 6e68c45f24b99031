import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import { isPublicAddress } from '#protocols/index.ts';

export interface GuardedFetchOptions {
  /** All addresses of a host name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  /** Opens the connection; `hostname` in its options is the checked address. */
  readonly connect?: buildConnector.connector;
  /** Milliseconds for the whole fetch. */
  readonly timeout?: number;
  readonly maxBytes?: number;
}

export interface GuardedFetchResult {
  /** Without parameters, lower case. */
  readonly mime: string;
  readonly bytes: Buffer;
}

/** The fetch was refused, or returned nothing usable. `message` contains no address and may be shown to anyone. */
export class FetchRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FetchRefused';
  }
}

const maxRedirects = 3;
const connectTimeout = 5_000;

/**
 * Fetches media from an address that a stranger chose. HTTPS only. A name is resolved once, all its addresses must be
 * public, and the connection goes to a checked address, so that a second DNS answer changes nothing. Redirects are
 * checked in the same way. Nothing of ours is sent along.
 * @throws FetchRefused
 */
export function createGuardedFetch({
  resolve = resolveAll,
  connect = buildConnector({ timeout: connectTimeout, allowH2: false }),
  timeout = 10_000,
  maxBytes = 20 * 1024 * 1024,
}: GuardedFetchOptions = {}): (url: string) => Promise<GuardedFetchResult> {
  return async (text) => {
    const signal = AbortSignal.timeout(timeout);
    let url = parse(text, undefined);
    for (let redirects = 0; ; redirects += 1) {
      const address = await checkedAddress(url, resolve, signal);
      const agent = new Agent({
        pipelining: 0,
        maxHeaderSize: 16 * 1024,
        connect: (options, callback) =>
          connect({ ...options, hostname: address, servername: serverName(url) }, callback),
      });
      try {
        const response = await request(url, {
          dispatcher: agent,
          signal,
          headers: { accept: 'image/*, application/pdf, audio/*, video/*' },
        });
        const location = redirectOf(response);
        if (location === null) return await readMedia(response, maxBytes);
        if (redirects === maxRedirects) throw new FetchRefused('too many redirects');
        url = parse(location, url);
      } catch (error) {
        throw asRefusal(error, signal);
      } finally {
        await agent.destroy();
      }
    }
  };
}

async function resolveAll(host: string): Promise<readonly string[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address }) => address);
}

function parse(text: string, base: URL | undefined): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch (error) {
    throw new FetchRefused('it is not a valid address', error);
  }
  if (url.protocol !== 'https:') throw new FetchRefused('only https addresses are fetched');
  if (url.username !== '' || url.password !== '') {
    throw new FetchRefused('an address with a user name or password is not fetched');
  }
  return url;
}

/** The address to connect to. The URL parser has already normalised unusual spellings of IPv4 addresses. */
async function checkedAddress(
  url: URL,
  resolve: (host: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<string> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await resolveInTime(host, resolve, signal) : [host];
  const [first] = addresses;
  if (first === undefined) throw new FetchRefused('its host is unknown');
  // Some private addresses among public ones are the mark of an attack, not of one faulty entry.
  if (!addresses.every(isPublicAddress)) throw new FetchRefused('its host is not public');
  return first;
}

async function resolveInTime(
  host: string,
  resolve: (host: string) => Promise<readonly string[]>,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([resolve(host), promise]);
  } catch (error) {
    throw signal.aborted ? timedOut(error) : new FetchRefused('its host is unknown', error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** TLS checks the certificate against the host name of the URL, whatever address is connected to. */
function serverName({ hostname }: URL): string {
  return isIP(hostname.replace(/^\[|\]$/g, '')) === 0 ? hostname.replace(/\.$/, '') : '';
}

function redirectOf({ statusCode, headers }: Dispatcher.ResponseData): string | null {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return null;
  const { location } = headers;
  return typeof location === 'string' ? location : null;
}

async function readMedia(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  maxBytes: number,
): Promise<GuardedFetchResult> {
  // Destroying the agent ends the body with an error, which a reader that has stopped must not receive.
  body.on('error', () => {});
  if (statusCode !== 200) throw new FetchRefused('its host did not return it');
  const mime = mimeOf(headers['content-type']);
  if (mime === null) throw new FetchRefused('it is not an image, PDF, audio or video');
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new FetchRefused('its host sent it compressed');
  }
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return { mime, bytes: Buffer.concat(chunks) };
}

function mimeOf(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  const mime = header.split(';', 1)[0]!.trim().toLowerCase();
  return /^(image|audio|video)\/[\w.+-]+$|^application\/pdf$/.test(mime) ? mime : null;
}

function tooLarge(maxBytes: number): FetchRefused {
  return new FetchRefused(`it is larger than ${Math.floor(maxBytes / (1024 * 1024))} MB`);
}

function asRefusal(error: unknown, signal: AbortSignal): FetchRefused {
  if (error instanceof FetchRefused) return error;
  return signal.aborted ? timedOut(error) : new FetchRefused('its host cannot be reached', error);
}

function timedOut(cause: unknown): FetchRefused {
  return new FetchRefused('it took too long', cause);
}
