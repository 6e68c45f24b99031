import { Refusal } from '#administration/index.ts';
import { ApiError } from '../errors.ts';

/** The fields of a key in which something else is named. */
const fields = { user: 'user', team: 'team', group: 'group', model: 'models' } as const;

/** Says what a use case refused in the API's own terms. */
export function refused(error: unknown): never {
  if (!(error instanceof Refusal)) throw error;
  throw asApiError(error);
}

function asApiError({ reason, kind, field, message }: Refusal): ApiError {
  switch (reason) {
    case 'missing': {
      if (kind === null || !Object.hasOwn(fields, kind)) {
        return new ApiError('not_found', 'there is no such key');
      }
      const path = fields[kind as keyof typeof fields];
      return new ApiError('invalid', message, { fields: [{ path, message }] });
    }
    case 'taken':
      return new ApiError('name_taken', message, { fields: [{ path: 'name', message }] });
    case 'managed-elsewhere':
      return new ApiError('owned_by_file', message);
    case 'above':
      return new ApiError('forbidden', message, {
        fields: field === null ? [] : [{ path: field, message }],
      });
    case 'repeated':
      return new ApiError('idempotency_conflict', message);
    case 'out-of-range':
      return new ApiError('invalid', message);
    case 'state':
      return new ApiError('conflict', message);
  }
}
