import { isObject, isPresent } from '../json.ts';
import { normalizeKeys } from './normalize.ts';
import { invalid, invalidField } from './protocol.ts';

/** What a count may have beside one of the two; unlike a request, the vendor's counter is strict about the rest. */
const members = new Set(['model', 'contents', 'generateContentRequest']);

/**
 * The request that is to be counted: bare contents, or a whole request with the model that the path names.
 * @throws Rejection
 */
export function validateCount(given: unknown, model: string): unknown {
  const body = normalizeKeys(given);
  if (!isObject(body)) return body;
  const extra = Object.keys(body).find((name) => !members.has(name) && !/^x[A-Z]/.test(name));
  if (extra !== undefined) {
    throw invalid(`Invalid JSON payload received. Unknown name "${extra}": Cannot find field.`);
  }
  const inner = body['generateContentRequest'];
  if (!isPresent(inner)) return body;
  if (isPresent(body['contents'])) {
    throw invalid('contents and generate_content_request cannot both be set.');
  }
  if (!isObject(inner) || !isPresent(inner['model'])) {
    throw invalidField('generate_content_request.model', 'model is not specified');
  }
  const named = String(inner['model']).replace(/^models\//, '');
  if (named.replace(/\+fault\(.*/, '') !== model) {
    throw invalidField('generate_content_request.model', `must be models/${model}`);
  }
  return inner;
}
