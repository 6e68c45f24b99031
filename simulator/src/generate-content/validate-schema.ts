import { isObject, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

const allowed = new Set(
  (
    'type format title description nullable enum items properties required propertyOrdering anyOf ' +
    'default example minItems maxItems minLength maxLength minProperties maxProperties minimum ' +
    'maximum pattern property_ordering any_of min_items max_items min_length max_length ' +
    'min_properties max_properties'
  ).split(' '),
);

const types = ['string', 'number', 'integer', 'boolean', 'array', 'object', 'null'];

/** Checks the OpenAPI subset of `parameters` and `responseSchema`. @throws Rejection */
export function checkSchema(schema: unknown, path: string): void {
  if (!isObject(schema)) return;
  for (const key of Object.keys(schema)) {
    if (allowed.has(key) || key.startsWith('x_')) continue;
    throw violation(`Unknown name "${key}" at '${path}': Cannot find field.`);
  }
  const { type } = schema;
  if (Array.isArray(type)) {
    throw violation(`Proto field is not repeating, cannot start list at '${path}.type'.`);
  }
  // Enums may be written as their proto numbers.
  if (
    type !== undefined &&
    typeof type !== 'number' &&
    (typeof type !== 'string' || !types.includes(type.toLowerCase()))
  ) {
    throw violation(
      `Invalid value at '${path}.type' (type.googleapis.com/google.ai.generativelanguage.v1beta.Type), ${JSON.stringify(type)}`,
    );
  }
  checkEnum(schema, path);
  checkMembers(schema, path);
}

function checkEnum(schema: JsonObject, path: string): void {
  const values = schema['enum'];
  if (!Array.isArray(values)) return;
  const wrong = values.findIndex((value) => typeof value !== 'string');
  if (wrong < 0) return;
  throw violation(
    `Invalid value at '${path}.enum[${wrong}]' (TYPE_STRING), ${JSON.stringify(values[wrong])}`,
  );
}

function checkMembers(schema: JsonObject, path: string): void {
  const properties = isObject(schema['properties']) ? schema['properties'] : {};
  Object.values(properties).forEach((member, index) =>
    checkSchema(member, `${path}.properties[${index}].value`),
  );
  checkSchema(schema['items'], `${path}.items`);
  if (Array.isArray(schema['anyOf'])) {
    schema['anyOf'].forEach((member, index) => checkSchema(member, `${path}.any_of[${index}]`));
  }
}

function violation(description: string) {
  return invalid(`Invalid JSON payload received. ${description}`);
}
