import { isPresent, type JsonObject } from '../json.ts';
import {
  checkModelExists,
  checkNumber,
  missing,
  requireObject,
  wrongType,
  wrongValue,
} from '../openai/protocol.ts';
import { Rejection } from '../rejection.ts';
import { countTokens } from '../scenario/question.ts';

/** The vendor's limits: inputs per request, tokens per input, dimensions per vector. */
const mostInputs = 2048;
const mostTokens = 8192;
export const mostDimensions = 1536;

/** One input: a text, or its tokens. */
export type Input = string | readonly number[];

export interface EmbeddingsRequest {
  readonly inputs: readonly Input[];
  readonly encoding: 'float' | 'base64';
  /** Null: the model's default. */
  readonly dimensions: number | null;
}

/** Reads a request, and refuses what the vendor refuses; unknown fields pass. @throws Rejection */
export function validateEmbeddings(given: unknown, model: string): EmbeddingsRequest {
  const body = requireObject(given);
  if (typeof body['model'] !== 'string' || model === '') {
    throw new Rejection(400, 'you must provide a model parameter');
  }
  checkModelExists(model);
  const inputs = readInputs(body['input']);
  const encoding = body['encoding_format'] ?? 'float';
  if (encoding !== 'float' && encoding !== 'base64') {
    throw wrongValue('encoding_format', encoding, ['float', 'base64']);
  }
  const { user } = body;
  if (isPresent(user) && typeof user !== 'string') throw wrongType('user', 'a string', user);
  return { inputs, encoding, dimensions: readDimensions(body) };
}

function readDimensions(body: JsonObject): number | null {
  const { dimensions } = body;
  checkNumber('dimensions', dimensions, 'integer', 1, mostDimensions);
  return typeof dimensions === 'number' ? dimensions : null;
}

function readInputs(input: unknown): Input[] {
  if (!isPresent(input)) throw missing('input');
  if (typeof input === 'string') return [readText(input)];
  if (!Array.isArray(input) || input.length === 0) throw wrongInput();
  if (input.every((entry) => typeof entry === 'number')) return [readTokens(input)];
  if (input.length > mostInputs) {
    throw new Rejection(
      400,
      `Invalid 'input': array too long. Expected an array with maximum length ${mostInputs}, but got an array with length ${input.length} instead.`,
      { param: 'input', code: 'array_above_max_length' },
    );
  }
  if (input.every((entry) => typeof entry === 'string')) return input.map(readText);
  return input.map((entry: unknown) => {
    if (!Array.isArray(entry) || entry.length === 0) throw wrongInput();
    return readTokens(entry);
  });
}

function readText(text: string): string {
  if (text === '') throw new Rejection(400, "Invalid 'input': input cannot be an empty string.");
  checkLength(countTokens(text));
  return text;
}

function readTokens(tokens: readonly unknown[]): readonly number[] {
  if (!tokens.every(isToken)) throw wrongInput();
  checkLength(tokens.length);
  return tokens;
}

function isToken(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0;
}

function checkLength(tokens: number): void {
  if (tokens <= mostTokens) return;
  throw new Rejection(
    400,
    `This model's maximum context length is ${mostTokens} tokens, however you requested ${tokens} tokens (${tokens} in your prompt; 0 for the completion). Please reduce your prompt; or completion length.`,
  );
}

function wrongInput(): Rejection {
  return new Rejection(
    400,
    "'$.input' is invalid. Please check the API reference: https://platform.openai.com/docs/api-reference.",
  );
}
