const path = '/v1/chat/completions';
const json = 'content-type: application/json\r\n';

/** What every request of the corpus asks for, where it is read as it was meant. */
const own = '{"model":"demo-chat","messages":[{"role":"user","content":"meant"}]}';

/**
 * A whole request that is paid for, to be hidden in the bytes of another. Who takes them for a request of their own
 * serves a path that nothing else of the corpus asks for.
 */
export function hiddenRequest(key: string): string {
  const body =
    '{"model":"demo-chat","max_tokens":9,"messages":[{"role":"user","content":"smuggled"}]}';
  return `POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${json}content-length: ${body.length}\r\n\r\n${body}`;
}

/** The request that the corpus' bytes are variations of, as it should be. */
export function wellFormedRequest(key: string): string {
  return `${headOf(key)}content-length: ${own.length}\r\n\r\n${own}`;
}

/**
 * S-24: bytes that two parsers could read differently, by name. Where one of them would find its end of the request
 * earlier than the other, a hidden request follows from there. CVE-2020-8287 (coding twice), CVE-2021-22959 (space
 * before the colon), CVE-2023-30589 (bare CR), CVE-2024-22019 (endless chunk extensions).
 */
export function malformedRequests(key: string): readonly (readonly [name: string, string])[] {
  const head = headOf(key);
  const hidden = hiddenRequest(key);
  const chunks = `${chunkOf(own)}0\r\n\r\n${hidden}`;
  const lengthOf = (body: string): string => `content-length: ${body.length}\r\n`;
  const chunked = 'transfer-encoding: chunked\r\n';
  const hiding = `0\r\n\r\n${hidden}`;
  const hidingChunk = `${chunkOf(hidden)}0\r\n\r\n`;
  const untilChunk = `content-length: ${hidingChunk.indexOf('\n') + 1}\r\n`;
  const extended = (extension: string): string =>
    `${own.length.toString(16)};${extension}\r\n${own}\r\n0\r\n\r\n`;
  return [
    ['length and chunks, which end earlier', `${head}${lengthOf(chunks)}${chunked}\r\n${chunks}`],
    ['chunks and length, which ends earlier', `${head}${chunked}${untilChunk}\r\n${hidingChunk}`],
    ['two lengths', `${head}${lengthOf(own)}${lengthOf(own + hidden)}\r\n${own}${hidden}`],
    ['two lengths in one', `${head}content-length: 2, 2\r\n\r\n{}${hidden}`],
    ['chunked and identity', `${head}${chunked}transfer-encoding: identity\r\n\r\n${chunks}`],
    ['chunked twice', `${head}${chunked}${chunked}\r\n${chunks}`],
    ['chunked not last', `${head}transfer-encoding: chunked, identity\r\n\r\n${chunks}`],
    ['an odd coding', `${head}transfer-encoding: xchunked\r\n\r\n${chunks}`],
    ['an odd space in a coding', `${head}transfer-encoding:\u000bchunked\r\n\r\n${chunks}`],
    ['bare LF', `${head}${lengthOf(own)}\r\n`.replaceAll('\r\n', '\n') + own],
    [
      'bare CR in a header',
      `${head}a: b\rtransfer-encoding: chunked\r\n${lengthOf(hiding)}\r\n${hiding}`,
    ],
    [
      'a folded coding',
      `${head}transfer-encoding:\r\n chunked\r\n${lengthOf(hiding)}\r\n${hiding}`,
    ],
    ['a folded header', `${head}a: b\r\n c\r\n${lengthOf(own)}\r\n${own}`],
    [
      'a space before the colon of a coding',
      `${head}transfer-encoding : chunked\r\n${lengthOf(hiding)}\r\n${hiding}`,
    ],
    [
      'a space before the colon of a length',
      `${head}content-length : ${own.length}\r\n\r\n${own}${hidden}`,
    ],
    ['a NUL in a header', `${head}a: b\u0000c\r\n${lengthOf(own)}\r\n${own}${hidden}`],
    ['a negative length', `${head}content-length: -2\r\n\r\n{}${hidden}`],
    ['a signed length', `${head}content-length: +2\r\n\r\n{}${hidden}`],
    ['a hexadecimal length', `${head}content-length: 0x2\r\n\r\n{}${hidden}`],
    ['a bad chunk size', `${head}${chunked}\r\nzz\r\n{}\r\n${hiding}`],
    ['a chunk size beyond 64 bits', `${head}${chunked}\r\n1${'0'.repeat(15)}2\r\n{}\r\n${hiding}`],
    ['an endless chunk extension', `${head}${chunked}\r\n${extended('a'.repeat(100_000))}`],
    ['a bare LF in a chunk extension', `${head}${chunked}\r\n${extended('a\nb')}`],
    ['no host', wellFormedRequest(key).replace('host: x\r\n', '') + hidden],
    ['two hosts', wellFormedRequest(key).replace('host: x', 'host: x\r\nHOST: y') + hidden],
    [
      'the same host twice',
      wellFormedRequest(key).replace('host: x', 'host: x\r\nhost: x') + hidden,
    ],
    ['another protocol', `SSH-2.0-client\r\n\r\n${hidden}`],
    ['a TLS hello', `\u0016\u0003\u0001\u0002\u0000\u0001${hidden}`],
    ['too many header bytes', `${head}a: ${'b'.repeat(40_000)}\r\n${lengthOf(own)}\r\n${own}`],
  ];
}

/**
 * S-03, S-25: well-formed requests that name a path or a model which two parsers could read differently, by name. At
 * most the chat that stands in their bodies is served, whatever the rest of them says.
 */
export function misleadingRequests(key: string): readonly (readonly [name: string, string])[] {
  const request = (target: string, host: string): string =>
    wellFormedRequest(key)
      .replace(`${path} HTTP`, `${target} HTTP`)
      .replace('host: x', `host: ${host}`);
  const hosts = ['evil/v1/messages', 'a?/v1/messages', 'a#/v1/messages', 'x/..', 'x:80/v1', 'a b'];
  const targets = [
    `http://x${path}`,
    'http://x/v1/messages/../chat/completions',
    `//x${path}`,
    `/${path}`,
    `${path}/`,
    `${path};x=1`,
    `${path}.`,
    `${path}%00`,
    `${path}%0d%0ax-injected:%201`,
    `${path}#/v1/messages`,
    '/v1/%2e%2e/v1/messages',
    '/v1/../v1/messages',
    '/v1/chat%2fcompletions',
    '/v1beta/models/..%2f..%2fv1%2fmessages:generateContent',
    '/v1beta/models/../../v1/messages:generateContent',
    '/v1beta/models/a%3fb:generateContent',
    '/v1beta/models/a%23b:generateContent',
    '/v1beta/models/demo-chat%0d%0ax-injected:%201:generateContent',
    '/v1beta/models/demo-chat%00:generateContent',
    `/v1beta/models/${'x'.repeat(10_000)}:generateContent`,
  ];
  return [
    ...hosts.map((host) => [`host ${host}`, request(path, host)] as const),
    ...targets.map((target) => [`target ${target.slice(0, 60)}`, request(target, 'x')] as const),
  ];
}

function headOf(key: string): string {
  return `POST ${path} HTTP/1.1\r\nhost: x\r\nx-api-key: ${key}\r\n${json}`;
}

function chunkOf(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n`;
}
