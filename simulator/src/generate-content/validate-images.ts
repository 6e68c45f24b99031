import { isObject, isPresent, objectsIn, stringAt, type JsonObject } from '../json.ts';
import { invalid } from './protocol.ts';

/** The models that draw: their names say so. */
export function isImageModel(model: string): boolean {
  return model.includes('image');
}

/** The requested modalities in upper case; none if the request leaves them to the model. */
export function modalitiesOf(config: JsonObject): string[] {
  const given = config['responseModalities'];
  return (Array.isArray(given) ? given : []).map((entry) => String(entry).toUpperCase());
}

const ratios: readonly string[] = '1:1 2:3 3:2 3:4 4:3 4:5 5:4 9:16 16:9 21:9'.split(' ');
const imageSizes: readonly string[] = ['1K', '2K', '4K'];
const types = 'type.googleapis.com/google.ai.generativelanguage.v1beta';

/** Rejects what this vendor rejects about pictures, of any model. @throws Rejection */
export function checkImages(body: JsonObject, config: JsonObject, model: string): void {
  checkModalities(config, model);
  checkImageConfig(config['imageConfig']);
  if (isImageModel(model)) checkImageModel(body, config, model);
}

function checkModalities(config: JsonObject, model: string): void {
  const given = config['responseModalities'];
  if (isPresent(given) && !Array.isArray(given)) {
    throw invalid(`Invalid value at 'generation_config.response_modalities'`);
  }
  const modalities = modalitiesOf(config);
  const wrong = modalities.findIndex((entry) => !['TEXT', 'IMAGE', 'AUDIO'].includes(entry));
  if (wrong >= 0) {
    throw invalid(
      `Invalid value at 'generation_config.response_modalities[${wrong}]' (${types}.GenerationConfig.Modality), ${JSON.stringify((given as unknown[])[wrong])}`,
    );
  }
  if (modalities.includes('IMAGE') && !isImageModel(model)) {
    throw invalid('Model does not support the requested response modalities: image');
  }
  if (isImageModel(model) && modalities.length > 0 && !modalities.includes('IMAGE')) {
    throw invalid(
      `The requested combination of response modalities (${modalities.join(', ')}) is not supported by the model. models/${model} accepts the following combination of response modalities:\n* IMAGE\n* IMAGE, TEXT\n`,
    );
  }
}

function checkImageConfig(config: unknown): void {
  if (!isPresent(config)) return;
  if (!isObject(config)) throw invalid(`Invalid value at 'generation_config.image_config'`);
  const { aspectRatio, imageSize } = config;
  if (isPresent(aspectRatio) && !ratios.includes(stringAt(config, 'aspectRatio'))) {
    throw invalid(
      `Invalid value at 'generation_config.image_config.aspect_ratio': must be one of ${ratios.join(', ')}`,
    );
  }
  if (isPresent(imageSize) && !imageSizes.includes(stringAt(config, 'imageSize'))) {
    throw invalid(
      `Invalid value at 'generation_config.image_config.image_size': must be one of ${imageSizes.join(', ')}`,
    );
  }
}

function checkImageModel(body: JsonObject, config: JsonObject, model: string): void {
  if (model.startsWith('gemini-') && Number(config['candidateCount'] ?? 1) > 1) {
    throw invalid(`Multiple candidates is not enabled for models/${model}`);
  }
  if (objectsIn(body['tools']).some((tool) => isPresent(tool['functionDeclarations']))) {
    throw invalid(`Function calling is not enabled for models/${model}`);
  }
  if (stringAt(config, 'responseMimeType') === 'application/json') {
    throw invalid(`JSON mode is not enabled for models/${model}`);
  }
}
