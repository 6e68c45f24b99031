import { type ReportedUsage, noTokens } from '#canonical/index.ts';
import { JsonCursor, keyBytes } from '#json/index.ts';
import { echoedName } from '../shared/text/echo.ts';
import { type ModelEcho, UnreadableResponse } from '../protocol.ts';
import { withUnread } from '../shared/usage/unread-usage.ts';
import { embeddingMembers } from '../shared/usage/usage-members.ts';
import { isRecord } from '../shared/values.ts';
import { countOf, emptySide, readCount, readMembers } from '../shared/usage/usage-numbers.ts';

export interface EmbeddingsResponse {
  readonly body: Buffer;
  readonly usage: ReportedUsage | null;
  /** It has no vectors, so nothing shows that it cost anything. */
  readonly isEmpty: boolean;
}

/** From the first byte of a value to one past its last. */
interface Range {
  readonly start: number;
  readonly end: number;
}

/** The members of a response other than its vectors. */
interface Members {
  readonly data: (Range & { readonly isEmpty: boolean }) | null;
  readonly usage: Range | null;
  readonly error: Range | null;
  /** A string. */
  readonly model: Range | null;
}

/**
 * Reads a complete response without parsing its vectors, which are megabytes of digits: the brackets and strings of
 * `data` are checked, its numbers are not. The client's name of the model is echoed back where the channel maps it.
 * @throws UnreadableResponse when it is not a JSON object with a list `data`, or carries an error.
 */
export function readResponse(body: Buffer, echo: ModelEcho): EmbeddingsResponse {
  const { data, usage: usageRange, error, model } = findMembers(body);
  const usage = usageRange === null ? null : readUsage(parse(body, usageRange));
  if (error !== null) {
    const failure = { error: parse(body, error) };
    throw new UnreadableResponse('the response carries an error', failure, usage);
  }
  if (data === null) throw new UnreadableResponse('the response has no list of data', null, usage);
  return { body: echoName(body, model, echo), usage, isEmpty: data.isEmpty };
}

const keys = {
  data: keyBytes('data'),
  usage: keyBytes('usage'),
  error: keyBytes('error'),
  model: keyBytes('model'),
};

const openBracket = 0x5b;
const cursor = new JsonCursor();

function findMembers(body: Buffer): Members {
  let data: Members['data'] = null;
  let usage: Range | null = null;
  let error: Range | null = null;
  let model: Range | null = null;
  cursor.reset(body);
  if (!cursor.enterObject()) throw new UnreadableResponse('the response is not a JSON object');
  while (cursor.nextMember()) {
    const start = cursor.at;
    const isEmpty = cursor.isEmpty();
    const isString = cursor.isString();
    const end = cursor.skip();
    if (cursor.keyIs(keys.data))
      data = body[start] === openBracket ? { start, end, isEmpty } : null;
    else if (cursor.keyIs(keys.usage)) usage = { start, end };
    else if (cursor.keyIs(keys.error)) error = isEmpty ? null : { start, end };
    else if (cursor.keyIs(keys.model)) model = isString ? { start, end } : null;
  }
  const isWhole = !cursor.failed && cursor.ended;
  cursor.clear();
  if (!isWhole) throw new UnreadableResponse('the response is not JSON');
  return { data, usage, error, model };
}

function parse(body: Buffer, { start, end }: Range): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end));
  } catch {
    throw new UnreadableResponse('the response is not JSON');
  }
}

function echoName(body: Buffer, model: Range | null, echo: ModelEcho): Buffer {
  const name = echoedName(echo);
  if (name === null || model === null) return body;
  return Buffer.concat([body.subarray(0, model.start), name, body.subarray(model.end)]);
}

/** Where servers report the tokens of the input, the usual place first; some name the total alone. */
const places = ['prompt_tokens', 'input_tokens', 'total_tokens'] as const;

/**
 * The usage of an embeddings response: input tokens alone. Null when it reports no count. A value that is not a count
 * (a text that is not a whole number, a negative or a fractional number) is no report; a count beyond 2^40 is one, and
 * implausible.
 */
export function readUsage(usage: unknown): ReportedUsage | null {
  if (!isRecord(usage)) return null;
  const { unknown } = readMembers(usage, embeddingMembers);
  const values = places.map((place) => usage[place]);
  const at = values.findIndex((value) => countOf(value) !== null);
  if (at === -1) return withUnread(null, unknown);
  const side = { ...emptySide };
  let input = 0;
  for (const value of values.slice(0, at + 1)) input = readCount(value, side) ?? 0;
  const tokens = { ...noTokens, input };
  const report = { tokens, implausible: side.implausible, ...(side.isOdd && { isDoubtful: true }) };
  return withUnread(report, unknown);
}
