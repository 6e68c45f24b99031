import { isObject, isPresent } from '../json.ts';
import { normalizeKeys } from './normalize.ts';
import { invalid, invalidField } from './protocol.ts';

/** Other members of a count. Unlike for requests, the vendor refuses unknown members of counts. */
const members = new Set(['model', 'contents', 'generateContentRequest']);

/**
 * The request to be counted: bare contents, or a whole request with the model in the path.
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
