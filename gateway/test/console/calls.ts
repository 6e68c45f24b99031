import { openApiDocument } from '#console-api/openapi.ts';

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<
        string,
        { readonly schema: { readonly properties?: Readonly<Record<string, unknown>> } }
      >
    >;
  };
}

const { paths } = openApiDocument('test') as {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
};
/** Every call that the API's document declares. */
export const calls = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path}`,
    method: method.toUpperCase(),
    address: path
      .replace('/admin/v1', '')
      .replace('{kind}', 'user')
      .replaceAll(/\{\w+\}/g, 'nothing'),
    queries: (operation.parameters ?? []).flatMap((each) => (each.in === 'query' ? each.name : [])),
    fields: Object.keys(
      operation.requestBody?.content['application/json']?.schema.properties ?? {},
    ),
  })),
);
export type Call = (typeof calls)[number];
