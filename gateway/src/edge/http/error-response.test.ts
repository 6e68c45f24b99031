import { expect, test } from 'vitest';
import { fromFastifyError } from './error-response.ts';

const coded = (code: unknown) => Object.assign(new Error('no'), { code });

test.each([
  [coded('FST_ERR_NOT_FOUND'), 'not_found'],
  [coded('FST_ERR_CTP_INVALID_MEDIA_TYPE'), 'unsupported_content_type'],
  [coded('FST_ERR_CTP_BODY_TOO_LARGE'), 'body_too_large'],
  [coded('FST_ERR_REP_ALREADY_SENT'), undefined],
  [coded('toString'), undefined],
  [coded(404), undefined],
  [new Error('no'), undefined],
  [{ code: 'FST_ERR_NOT_FOUND' }, undefined],
])('%o is the error %s', (thrown, name) => {
  const error = fromFastifyError(thrown);
  expect(error?.errorName).toBe(name);
  if (error !== null) expect(error.cause).toBe(thrown);
});
