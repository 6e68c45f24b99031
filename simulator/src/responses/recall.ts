import { stringAt, type JsonObject } from '../json.ts';
import { Rejection } from '../rejection.ts';
import type { ResponseMemory } from './memory.ts';

/** The items that the request continues; none if it names no earlier response. @throws Rejection */
export function recall(memory: ResponseMemory, body: JsonObject): readonly unknown[] {
  const id = stringAt(body, 'previous_response_id');
  if (id === '') return [];
  const items = memory.recall(id);
  if (items === undefined) {
    throw new Rejection(400, `Previous response with id '${id}' not found.`, {
      param: 'previous_response_id',
      code: 'previous_response_not_found',
    });
  }
  return items;
}
