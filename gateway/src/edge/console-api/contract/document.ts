import { z } from 'zod';
import { defineRoute } from './route.ts';

export const readDocument = defineRoute({
  method: 'GET',
  path: '/openapi.json',
  summary: 'This API as a document of OpenAPI 3.1',
  permission: 'own',
  response: z.record(z.string(), z.unknown()),
  example: { openapi: '3.1.0' },
});
