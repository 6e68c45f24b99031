import { isObject, isPresent, objectAt, stringAt, type JsonObject } from '../json.ts';
import { Rejection } from '../rejection.ts';
import type { Signer } from '../scenario/signature.ts';
import { contentsOf, normalizeKeys } from './normalize.ts';
import { invalid, invalidField } from './protocol.ts';
import { checkContents } from './validate-contents.ts';
import { checkImages } from './validate-images.ts';
import { checkSchema } from './validate-schema.ts';
import { checkTurns } from './validate-turns.ts';

/**
 * Rejects what this vendor rejects, except for unknown fields, which pass. Returns the body with
 * camelCase keys. @throws Rejection
 */
export function validateGenerateContent(given: unknown, model: string, signer: Signer): JsonObject {
  const body = normalizeKeys(given);
  if (!isObject(body)) {
    throw invalid('Invalid JSON payload received. Unexpected token. Expected an object.');
  }
  if (model === '') throw invalid('* GenerateContentRequest.model: model is not specified\n');
  checkModel(model);
  if (!isPresent(body['contents'])) throw invalidField('contents', 'contents is not specified');
  const contents = contentsOf(body);
  if (contents.length === 0) throw invalidField('contents', 'contents is not specified');
  checkContents(contents);
  checkTurns(contents.filter(isObject), model.includes('reasoning'), signer);
  checkSystem(body['systemInstruction']);
  checkTools(body);
  checkConfig(body['generationConfig']);
  checkImages(body, objectAt(body, 'generationConfig'), model);
  return body;
}

/** @throws Rejection for models that do not exist */
export function checkModel(model: string): void {
  if (!model.startsWith('missing-')) return;
  throw new Rejection(
    404,
    `models/${model} is not found for API version v1beta, or is not supported for generateContent. Call ListModels to see the list of available models and their supported methods.`,
  );
}

function checkSystem(system: unknown): void {
  if (!isPresent(system) || typeof system === 'string') return;
  const parts = isObject(system) ? system['parts'] : undefined;
  const list = isObject(parts) ? [parts] : parts;
  if (!Array.isArray(list) || list.length === 0) {
    throw invalidField('system_instruction.parts', 'must not be empty');
  }
}

function checkTools(body: JsonObject): void {
  const { tools } = body;
  if (isPresent(tools) && !Array.isArray(tools)) {
    throw invalid(
      "Invalid value at 'tools' (type.googleapis.com/google.ai.generativelanguage.v1beta.Tool)",
    );
  }
  ((tools ?? []) as unknown[]).forEach((tool, index) => {
    const declarations = isObject(tool) ? tool['functionDeclarations'] : undefined;
    ((declarations ?? []) as unknown[]).forEach((declaration, position) => {
      checkDeclaration(declaration, `tools[${index}].function_declarations[${position}]`);
    });
  });
  const config = isObject(body['toolConfig']) ? body['toolConfig']['functionCallingConfig'] : null;
  if (!isObject(config)) return;
  const mode = stringAt(config, 'mode').toUpperCase();
  if (!['', 'MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'].includes(mode)) {
    throw invalid(
      `Invalid value at 'tool_config.function_calling_config.mode' (type.googleapis.com/google.ai.generativelanguage.v1beta.FunctionCallingConfig.Mode), "${mode}"`,
    );
  }
  const names = config['allowedFunctionNames'];
  if (Array.isArray(names) && names.length > 0 && mode !== 'ANY' && mode !== 'VALIDATED') {
    throw invalid(
      'Allowed function names should only be set when the function calling mode is ANY or VALIDATED.',
    );
  }
}

function checkDeclaration(declaration: unknown, path: string): void {
  const name = stringAt(declaration, 'name');
  if (!isObject(declaration) || !/^[a-zA-Z_][a-zA-Z0-9_.:-]{0,127}$/.test(name)) {
    throw invalidField(
      `${path}.name`,
      'Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 128.',
    );
  }
  if (isPresent(declaration['parameters']) && isPresent(declaration['parametersJsonSchema'])) {
    throw invalidField(path, 'parameters and parameters_json_schema are mutually exclusive');
  }
  checkSchema(declaration['parameters'], `${path}.parameters`);
}

function checkConfig(config: unknown): void {
  if (!isPresent(config)) return;
  if (!isObject(config)) throw invalid("Invalid value at 'generation_config'");
  checkRange(config, 'temperature', 0, 2);
  checkRange(config, 'topP', 0, 1);
  checkRange(config, 'topK', 1, Number.MAX_SAFE_INTEGER);
  checkRange(config, 'candidateCount', 1, 8);
  checkRange(config, 'maxOutputTokens', 1, 1_000_000);
  const sequences = config['stopSequences'];
  if (Array.isArray(sequences) && sequences.length > 5) {
    throw invalidField('generation_config.stop_sequences', 'at most 5 stop sequences are allowed');
  }
  const hasSchema = isPresent(config['responseSchema']);
  const hasJsonSchema = isPresent(config['responseJsonSchema']);
  if (hasSchema && hasJsonSchema) {
    throw invalidField(
      'generation_config',
      'response_schema and response_json_schema are mutually exclusive',
    );
  }
  if ((hasSchema || hasJsonSchema) && stringAt(config, 'responseMimeType') === '') {
    throw invalidField(
      'generation_config.response_mime_type',
      'must be set when a response schema is given',
    );
  }
  checkSchema(config['responseSchema'], 'generation_config.response_schema');
  const thinking = config['thinkingConfig'];
  if (
    isObject(thinking) &&
    isPresent(thinking['thinkingBudget']) &&
    isPresent(thinking['thinkingLevel'])
  ) {
    throw invalid('You can only set only one of thinking budget and thinking level.');
  }
}

function checkRange(config: JsonObject, field: string, least: number, most: number): void {
  const value = config[field];
  if (!isPresent(value)) return;
  const name = field.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
  if (typeof value !== 'number') {
    throw invalid(
      `Invalid value at 'generation_config.${name}' (TYPE_FLOAT), ${JSON.stringify(value)}`,
    );
  }
  if (value < least || value > most) {
    throw invalidField(
      `generation_config.${name}`,
      `${name} must be in the range [${least}, ${most}].`,
    );
  }
}
