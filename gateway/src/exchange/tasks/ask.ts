import type { VideoProtocolName } from '#canonical/index.ts';
import { trimTrailing, type Timeouts } from '#config/index.ts';
import {
  retryAfterOf,
  type UpstreamCall,
  type UpstreamClient,
  type UpstreamRequest,
} from '#upstream/index.ts';
import { parseWithIds, signerOf, type TaskCall, type Vendor } from '#vendors/index.ts';
import type { Access } from './access.ts';
import { lookRules } from './schedule.ts';

/** What an upstream says to a call. */
export type Reply =
  /** `body`: parsed, or null if it is no JSON. */
  | { readonly kind: 'answered'; readonly body: unknown }
  /** @param retryAfter seconds */
  | { readonly kind: 'limited'; readonly retryAfter: number | null }
  | { readonly kind: 'failed' };

export interface AskOptions {
  readonly upstream: UpstreamClient;
  readonly timeouts: Timeouts;
  readonly vendor: Vendor;
  readonly access: Access;
  readonly protocol: VideoProtocolName;
  /** Ends the call as failed. */
  readonly stop: AbortSignal;
}

/** More than the descriptions of a hundred tasks. */
const mostBytes = 8 * 1024 * 1024;

const failedReply: Reply = { kind: 'failed' };

/** Makes one call that follows tasks. Never rejects, and takes no longer than `lookRules.longest`. */
export function ask(question: TaskCall, options: AskOptions): Promise<Reply> {
  const { promise, resolve } = Promise.withResolvers<Reply>();
  const { stop } = options;
  if (stop.aborted) return Promise.resolve(failedReply);
  const chunks: Buffer[] = [];
  let call: UpstreamCall | null = null;
  let size = 0;
  let status = 0;
  let retryAfter: number | null = null;

  const end = (reply: Reply): void => {
    clearTimeout(timer);
    stop.removeEventListener('abort', give);
    call?.abort();
    resolve(reply);
  };
  const give = (): void => end(failedReply);
  const timer = setTimeout(give, lookRules.longest).unref();
  stop.addEventListener('abort', give);

  call = options.upstream.send(requestOf(question, options), {
    onHead(code, headers) {
      status = code;
      retryAfter = retryAfterOf(headers);
    },
    onData(chunk) {
      size += chunk.length;
      if (size > mostBytes) give();
      else chunks.push(chunk);
    },
    onEnd() {
      if (status === 429) end({ kind: 'limited', retryAfter });
      else if (status < 200 || status > 299) end(failedReply);
      else end({ kind: 'answered', body: parse(Buffer.concat(chunks)) });
    },
    onBreak: give,
  });
  return promise;
}

function requestOf(
  { method, path }: TaskCall,
  { access, vendor, protocol, timeouts }: AskOptions,
): UpstreamRequest {
  const base = new URL(access.baseUrl);
  return {
    origin: base.origin,
    path: trimTrailing(base.pathname, '/') + path,
    method,
    headers: {
      accept: 'application/json',
      'accept-encoding': 'identity',
      ...access.headers,
      ...vendor.headers(access.secret, protocol),
    },
    body: null,
    signer: signerOf(vendor, access.secret),
    proxy: access.proxy ?? null,
    timeouts: { ...timeouts, firstByte: lookRules.longest, streamIdle: lookRules.longest },
  };
}

function parse(bytes: Buffer): unknown {
  try {
    return parseWithIds(bytes);
  } catch {
    return null;
  }
}
