import { membersAt, objectStart, outlineOf } from '#json/index.ts';
import type { ReportedUsage } from '#canonical/index.ts';
import { echoedName } from '../shared/text/echo.ts';
import { parseRecord } from '../shared/text/events.ts';
import { type ModelEcho, UnreadableResponse } from '../protocol.ts';
import { isRecord, type JsonRecord, recordAt } from '../shared/values.ts';
import type { ImageEntry, ImagesResponse } from './types.ts';
import { readInclusiveUsage } from '../shared/usage/inclusive-usage.ts';
import { countOf } from '../shared/usage/usage-numbers.ts';

/** In bytes of Base64: where the header of nearly every image has ended, even after a colour profile. */
export const longestRead = 64 * 1024;

/**
 * Reads a complete response: one pass over its bytes, and images are never decoded beyond their headers. The client's
 * name of the model is echoed back where the channel maps it.
 * @throws UnreadableResponse when it is not a JSON object with a list `data` of objects, or carries an error.
 */
export function readResponse(body: Buffer, echo: ModelEcho): ImagesResponse {
  const response = parseImages(body);
  if (response === null) throw new UnreadableResponse('the response is not a JSON object');
  return { ...interpretResponse(response), body: echoName(body, response, echo) };
}

/**
 * What a parsed response says. Its long texts may be cut.
 * @throws UnreadableResponse
 */
export function interpretResponse(response: JsonRecord): Omit<ImagesResponse, 'body'> {
  const { data, size, usage: rawUsage } = response;
  const usage = readUsage(rawUsage, response['service_tier']);
  if (response['error']) {
    throw new UnreadableResponse('the response carries an error', response, usage);
  }
  if (!Array.isArray(data) || !data.every(isRecord)) {
    throw new UnreadableResponse('the response has no list of data', null, usage);
  }
  return {
    entries: data.map(readEntry),
    size: sizeOf(size),
    inputImages: readInputImages(rawUsage),
    usage,
  };
}

/** An entry of `data`, or an event that holds one image. Its long texts may be cut. */
export function readEntry(entry: JsonRecord): ImageEntry {
  const zIndex = entry['z_index'];
  return {
    size: sizeOf(entry['size']),
    zIndex: typeof zIndex === 'number' ? zIndex : null,
    isFailed: Boolean(entry['error']),
    imageStart: imageStart(entry['b64_json']),
  };
}

/**
 * JSON whose texts are cut where no header of an image reaches.
 * @param isChecked false: the rest of a long text is not checked, as for the events of a stream, which are read in turn
 * @returns null if it is not a JSON object, or too complex
 */
export function parseImages(json: Buffer, isChecked = true): JsonRecord | null {
  const outline = outlineOf(json, longestRead, isChecked);
  return outline === null ? null : parseRecord(outline);
}

function sizeOf(size: unknown): string | null {
  return typeof size === 'string' ? size : null;
}

/** Some servers put a data URI there. */
function imageStart(text: unknown): Buffer | null {
  if (typeof text !== 'string' || text === '') return null;
  const base64 = /^data:/i.test(text) ? text.slice(text.indexOf(',') + 1) : text;
  return Buffer.from(base64.slice(0, longestRead), 'base64');
}

function echoName(body: Buffer, response: JsonRecord, echo: ModelEcho): Buffer {
  const name = echoedName(echo);
  const start = objectStart(body, 0);
  if (name === null || start === null || typeof response['model'] !== 'string') return body;
  const model = membersAt(body, start).findLast(({ key }) => key === 'model');
  if (model === undefined) return body;
  const { valueStart, valueEnd } = model;
  return Buffer.concat([body.subarray(0, valueStart), name, body.subarray(valueEnd)]);
}

/**
 * The tokens of an answer with images; null if it reports none. Output without details is that of images: an answer
 * has nothing else to count.
 * @param serviceTier as the response names it, beside its usage
 */
export function readUsage(usage: unknown, serviceTier?: unknown): ReportedUsage | null {
  const reportedUsage = readInclusiveUsage(usage, serviceTier);
  if (reportedUsage === null || !isRecord(usage)) return null;
  // Nothing is estimated of images, so a half is no report.
  if (reportedUsage.missingSide !== undefined && !reportedUsage.implausible) return null;
  if (hasOutputDetails(usage)) return reportedUsage;
  const { tokens } = reportedUsage;
  return { ...reportedUsage, tokens: { ...tokens, outputImage: tokens.output } };
}

function hasOutputDetails(usage: JsonRecord): boolean {
  const { image_tokens: imageEntries, text_tokens: text } = {
    ...recordAt(usage, 'completion_tokens_details'),
    ...recordAt(usage, 'output_tokens_details'),
  };
  return countOf(imageEntries) !== null || countOf(text) !== null;
}

/** The references that the upstream counted; null unless that is a whole number. */
export function readInputImages(usage: unknown): number | null {
  const count = isRecord(usage) ? countOf(usage['input_images']) : null;
  return Number.isSafeInteger(count) ? count : null;
}
