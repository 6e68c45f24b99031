import { isDeepStrictEqual } from 'node:util';
import { GatewayError } from '#errors/index.ts';
import {
  holdsInexactNumbers,
  JsonCursor,
  keyBytes,
  parseObject,
  replaceValue,
  scanJson,
  splice,
  watchList,
} from '#json/index.ts';
import { wireRequests } from '../../support/wire-requests.ts';
import { holds, type FuzzTarget } from '../target.ts';
import { isClientError } from './refusals.ts';

const watched = watchList(['model', 'max_tokens', 'stream', 'stream_options.include_usage']);
const samples = Object.values(wireRequests)
  .map((request) => Buffer.from(JSON.stringify(request)))
  .concat(
    Buffer.from(
      '{"model":"m","stream_options":{"include_usage":true},"n":[1.0,-0,9007199254740993]}',
    ),
    Buffer.from(' {"\\u006dodel" : "é🙂\\n" , "stream":false} '),
  );

/** Undefined when it is not JSON. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function scan(input: Buffer): void {
  const value = parsed(String(input));
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  let scanned;
  try {
    scanned = scanJson(input, watched);
  } catch (error) {
    const name = error instanceof GatewayError ? error.errorName : null;
    // Depth, numbers of values and ambiguous keys may be refused; whatever else is JSON may not.
    const isExpected =
      name === 'duplicate_key' || name === 'invalid_body' || name === 'too_complex';
    holds(isExpected, `it throws ${String(error)}`);
    throw error;
  }
  let isParsed = true;
  try {
    parseObject(input, watched);
  } catch (error) {
    isParsed = false;
    if (!isClientError(error)) throw error;
  }
  if (isParsed) holds(isObject, 'what is not a JSON object is refused');
  if (!isParsed || !isObject) return;
  for (const [path, { valueStart, valueEnd }] of scanned.members) {
    const [outer = '', inner] = path.split('.');
    let there = (value as Record<string, unknown>)[outer];
    if (inner !== undefined) there = (there as Record<string, unknown>)[inner];
    const found = parsed(input.toString('utf8', valueStart, valueEnd));
    holds(isDeepStrictEqual(found, there), `the range of ${path} holds its value`);
  }
  const model = scanned.members.get('model');
  if (model === undefined) return;
  const changed = parsed(String(splice(input, [replaceValue(model, 'other')])));
  const expected = { ...value, model: 'other' };
  holds(isDeepStrictEqual(changed, expected), 'splicing changes what it says and nothing else');
}

const modelKey = keyBytes('model');

function walk(input: Buffer): void {
  const cursor = new JsonCursor();
  cursor.reset(input);
  const value = parsed(String(input));
  let names = 0;
  if (cursor.enterObject()) {
    while (cursor.nextMember()) {
      if (cursor.keyIs(modelKey)) names += 1;
      if (cursor.isString()) cursor.skipText();
      else if (cursor.enterArray()) while (cursor.nextElement()) cursor.skip();
      else cursor.skip();
    }
    if (!cursor.failed && cursor.ended && typeof value === 'object' && value !== null) {
      holds(names > 0 === Object.hasOwn(value, 'model'), 'the cursor sees a key that is there');
    }
  }
  cursor.reset(input);
  const read = cursor.read();
  // The cursor notices less than a parser, and what it reads is what the parser reads.
  if (!cursor.failed && cursor.ended) {
    holds(isDeepStrictEqual(read, value), 'the cursor reads what a parser reads');
  }
  for (const depth of [0, 1, 3]) holdsInexactNumbers(input, depth);
}

export const jsonTargets: readonly FuzzTarget[] = [
  { name: 'json scan', isJson: true, samples, run: scan, isRefusal: isClientError },
  { name: 'json cursor', isJson: true, samples, run: walk, isRefusal: () => false },
];
