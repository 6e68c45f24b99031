import { z } from 'zod';
import { contract, type RouteContract } from './contract/index.ts';
import { statuses, base } from './errors.ts';

const error = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      additionalProperties: false,
      required: ['code', 'message', 'request_id'],
      properties: {
        code: { enum: Object.keys(statuses) },
        message: { type: 'string' },
        fields: {
          type: 'array',
          items: {
            type: 'object',
            required: ['path', 'message'],
            properties: { path: { type: 'string' }, message: { type: 'string' } },
          },
        },
        object: { type: 'object', description: 'the object as it is now' },
        file: { type: 'string', description: 'the configuration file that declares it' },
        path: { type: 'string', description: 'the place in that file' },
        line: { type: 'integer', description: 'its line there, from 1' },
        request_id: { type: 'string' },
      },
    },
  },
};

/** The console's API as a document of OpenAPI 3.1, made of the contract that serves it. */
export function openApiDocument(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const [name, route] of Object.entries(contract) as [string, RouteContract][]) {
    const path = base + route.path.replaceAll(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[route.method.toLowerCase()] = operation(name, route);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Sluice administration', version },
    paths,
    components: {
      schemas: { Error: error },
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: '__Host-sluice' },
        admin_key: { type: 'http', scheme: 'bearer', description: 'an admin key, `sa-…`' },
        csrf: { type: 'apiKey', in: 'header', name: 'x-sluice-csrf' },
      },
    },
  };
}

function operation(operationId: string, route: RouteContract): object {
  const isWrite = route.method !== 'GET';
  const isOpen = route.permission === 'nobody';
  return {
    operationId,
    summary: route.summary,
    'x-permission': route.permission,
    security: isOpen
      ? []
      : [
          { session: [], ...(isWrite && { csrf: [] }) },
          ...(route.callers === 'people' ? [] : [{ admin_key: [] }]),
        ],
    parameters: [...parametersIn('path', route.parameters), ...parametersIn('query', route.query)],
    ...(isWrite && {
      requestBody: { required: true, content: json({ schema: schemaOf(route.body, 'input') }) },
    }),
    responses: {
      [route.status ?? 200]: {
        description: 'Done',
        content: {
          ...json({ schema: schemaOf(route.response, 'output'), example: route.example }),
          ...(route.yaml === true && yaml),
        },
      },
      default: {
        description: 'Refused, or failed',
        content: json({ schema: { $ref: '#/components/schemas/Error' } }),
      },
    },
  };
}

const yaml = { 'application/yaml': { schema: { type: 'string' } } };
const json = (content: object) => ({ 'application/json': content });

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required: boolean;
  readonly schema: object;
}

function parametersIn(place: 'path' | 'query', schema: z.ZodType): Parameter[] {
  const { properties = {}, required = [] } = schemaOf(schema, 'input');
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: place,
    required: place === 'path' || required.includes(name),
    schema: each,
  }));
}

function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
): { readonly properties?: Record<string, object>; readonly required?: readonly string[] } {
  // A rule that JSON Schema cannot express, such as that of a transformed text, leaves the kind of value.
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return rest as ReturnType<typeof schemaOf>;
}
