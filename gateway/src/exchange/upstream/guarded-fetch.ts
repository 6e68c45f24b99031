import { isIP, isIPv4 } from 'node:net';
import { Agent, buildConnector, request, type Dispatcher } from 'undici';
import { isPublicAddress } from '#protocols/index.ts';
import { createFetchSlots } from './fetch-slots.ts';
import { noProxies, type Proxies } from './proxies.ts';
import { createProxyAgent } from './proxy-agent.ts';
import { createMediaNames, type MediaNamesOptions, type ResolveName } from './media-names.ts';

export interface GuardedFetchOptions extends MediaNamesOptions {
  /** Only tests replace it. */
  readonly resolve?: ResolveName;
  /** Opens the connection; `hostname` in its options is the checked address. */
  readonly connect?: buildConnector.connector;
  /** Absent: none. */
  readonly proxies?: Proxies;
}

export interface MediaOrder {
  readonly url: string;
  /** The key for which it is fetched; each has only a few fetches under way. */
  readonly keyId: string;
  /** Milliseconds for the whole fetch, with the wait for its turn. */
  readonly timeout: number;
  readonly maxBytes: number;
  /** It may be of any type, and come over http. Default: media over https. */
  readonly isUnrestricted?: boolean;
  /** The origin of the upstream that names it as its result, which need not be public. Default: null. */
  readonly ownOrigin?: string | null;
  /** Ends the fetch, which then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/** A response that passed all checks, before its bytes. */
export interface IncomingMedia {
  /** Without parameters, lower case. `application/octet-stream`: unknown, or no media. */
  readonly mime: string;
  /** In bytes, as announced; null: it was not. */
  readonly length: number | null;
  /** As they arrive, `maxBytes` at most. To be read once, until the reader's promise ends. @throws FetchRefused */
  readonly pieces: AsyncIterable<Buffer>;
}

/**
 * Fetches media and gives them to the reader as they arrive, of whatever size.
 * @throws FetchRefused, or what the reader throws
 */
export type GuardedFetch = <Result>(
  order: MediaOrder,
  read: (media: IncomingMedia) => Promise<Result>,
) => Promise<Result>;

/** The fetch was refused, or returned nothing usable. `message` contains no address and may be shown to anyone. */
export class FetchRefused extends Error {
  constructor(message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'FetchRefused';
  }
}

/** It has more bytes than `maxBytes`, as announced or as read. */
export class TooLarge extends FetchRefused {
  constructor(maxBytes: number) {
    super(`it is larger than ${Math.floor(maxBytes / (1024 * 1024))} MB`);
    this.name = 'TooLarge';
  }
}

const usualTypes = 'image/*, application/pdf, audio/*, video/*';
const unknownType = 'application/octet-stream';
const maxRedirects = 3;
const connectTimeout = 5_000;
/** Two requests with four addresses each. More of a key wait for their turn. */
const mostOfKey = 8;

/**
 * Fetches media from an address that a stranger chose. A name is resolved once, all its addresses must be
 * public, and the connection goes to a checked address, so that a second DNS answer changes nothing. Redirects are
 * checked in the same way. Nothing of ours is sent along.
 */
export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const {
    resolve = createMediaNames(options),
    connect = buildConnector({ timeout: connectTimeout, allowH2: false }),
    proxies = noProxies,
  } = options;
  const slots = createFetchSlots(mostOfKey);

  const follow = async <Result>(
    order: MediaOrder,
    signal: AbortSignal,
    read: (media: IncomingMedia) => Promise<Result>,
  ): Promise<Result> => {
    const { isUnrestricted = false, ownOrigin = null } = order;
    let url = parse(order.url, undefined, order);
    for (let redirects = 0; ; redirects += 1) {
      const isOwn = url.origin === ownOrigin;
      const addresses = isOwn ? null : await checkedAddresses(url, resolve, signal);
      const limits = { pipelining: 0, maxHeaderSize: 16 * 1024 };
      const proxy = proxies.of(url.origin, null);
      const agent =
        proxy === null
          ? new Agent({
              ...limits,
              connect: (target, callback) =>
                addresses === null
                  ? connect(target, callback)
                  : connectToFirst(
                      connect,
                      addresses,
                      { ...target, servername: serverName(url) },
                      callback,
                    ),
            })
          : createProxyAgent(proxy, {
              pool: limits,
              connectTimeout,
              isTunnel: true,
              servername: serverName(url),
            });
      // The proxy gets the checked address: it might resolve the name to one of its own network.
      const target = proxy === null || addresses === null ? url : atAddress(url, addresses[0]!);
      try {
        const response = await request(target, {
          dispatcher: agent,
          signal,
          headers: { accept: isUnrestricted ? '*/*' : usualTypes, host: url.host },
        }).catch((error: unknown) => {
          throw unreachable(error);
        });
        // Destroying the agent ends the body with an error, which a reader that has stopped must not receive.
        response.body.on('error', () => {});
        const location = redirectOf(response);
        if (location === null) return await read(mediaIn(response, order));
        if (redirects === maxRedirects) throw new FetchRefused('too many redirects');
        url = parse(location, url, order);
      } finally {
        await agent.destroy();
      }
    }
  };

  return async (order, read) => {
    const time = AbortSignal.timeout(order.timeout);
    const signal = order.signal === undefined ? time : AbortSignal.any([order.signal, time]);
    let isTaken = false;
    try {
      await slots.take(order.keyId, signal);
      isTaken = true;
      return await follow(order, signal, read);
    } catch (error) {
      order.signal?.throwIfAborted();
      if (time.aborted && (error === time.reason || error instanceof FetchRefused)) {
        throw new FetchRefused('it took too long', error);
      }
      throw error;
    } finally {
      if (isTaken) slots.give(order.keyId);
    }
  };
}

function parse(text: string, base: URL | undefined, { isUnrestricted = false }: MediaOrder): URL {
  let url: URL;
  try {
    url = new URL(text, base);
  } catch (error) {
    throw new FetchRefused('it is not a valid address', error);
  }
  const isSpoken = url.protocol === 'https:' || (isUnrestricted && url.protocol === 'http:');
  if (!isSpoken) throw new FetchRefused('only https addresses are fetched');
  if (url.username !== '' || url.password !== '') {
    throw new FetchRefused('an address with a user name or password is not fetched');
  }
  return url;
}

/**
 * The addresses to connect to, one of each family. The URL parser has already normalised unusual spellings of IPv4
 * addresses. A host that is unknown and one that is not public are refused alike: the difference would tell a stranger
 * the names of this network.
 */
async function checkedAddresses(
  url: URL,
  resolve: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const addresses = isIP(host) === 0 ? await resolveInTime(host, resolve, signal) : [host];
  // Some private addresses among public ones are the mark of an attack, not of one faulty entry.
  if (addresses.length === 0 || !addresses.every(isPublicAddress)) throw notPublic();
  const families = [addresses.find(isIPv4), addresses.find((each) => !isIPv4(each))];
  return families.filter((each) => each !== undefined);
}

function notPublic(cause?: unknown): FetchRefused {
  return new FetchRefused('its host has no public address', cause);
}

async function resolveInTime(
  host: string,
  resolve: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = (): void => reject(signal.reason);
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    return await Promise.race([resolve(host, signal), promise]);
  } catch (error) {
    signal.throwIfAborted();
    throw notPublic(error);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}

/** Some networks have only one of the families. */
function connectToFirst(
  connect: buildConnector.connector,
  [address = '', ...others]: readonly string[],
  target: buildConnector.Options,
  callback: buildConnector.Callback,
): void {
  connect({ ...target, hostname: address }, (...result) => {
    if (result[0] === null || others.length === 0) callback(...result);
    else connectToFirst(connect, others, target, callback);
  });
}

function atAddress(url: URL, address: string): URL {
  const target = new URL(url);
  target.hostname = isIPv4(address) ? address : `[${address}]`;
  return target;
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

function mediaIn(
  { statusCode, headers, body }: Dispatcher.ResponseData,
  { maxBytes, isUnrestricted = false }: MediaOrder,
): IncomingMedia {
  if (statusCode !== 200) throw new FetchRefused('its host did not return it');
  const mime = mimeOf(headers['content-type']) ?? (isUnrestricted ? unknownType : null);
  if (mime === null) throw new FetchRefused('it is not an image, PDF, audio or video');
  if (headers['content-encoding'] !== undefined && headers['content-encoding'] !== 'identity') {
    throw new FetchRefused('its host sent it compressed');
  }
  const announcedLength = headers['content-length'];
  const length = announcedLength === undefined ? null : Number(announcedLength);
  if (length !== null && length > maxBytes) throw new TooLarge(maxBytes);
  return { mime, length, pieces: atMost(body, maxBytes) };
}

async function* atMost(pieces: AsyncIterable<Buffer>, maxBytes: number): AsyncGenerator<Buffer> {
  let size = 0;
  try {
    for await (const piece of pieces) {
      size += piece.length;
      if (size > maxBytes) throw new TooLarge(maxBytes);
      yield piece;
    }
  } catch (error) {
    throw unreachable(error);
  }
}

function mimeOf(header: string | string[] | undefined): string | null {
  if (typeof header !== 'string') return null;
  const mime = header.split(';', 1)[0]!.trim().toLowerCase();
  return /^(image|audio|video)\/[\w.+-]+$|^application\/pdf$/.test(mime) ? mime : null;
}

function unreachable(error: unknown): FetchRefused {
  return error instanceof FetchRefused
    ? error
    : new FetchRefused('its host cannot be reached', error);
}
