import { camelCase } from './fields.ts';

const config = 'generationConfig';

/** Things that are called otherwise here than elsewhere. */
const names: Readonly<Record<string, string>> = {
  stop: `${config}.stopSequences`,
  stop_sequences: `${config}.stopSequences`,
  n: `${config}.candidateCount`,
  choices: `${config}.candidateCount`,
  temperature: `${config}.temperature`,
  top_p: `${config}.topP`,
  top_k: `${config}.topK`,
  max_tokens: `${config}.maxOutputTokens`,
  max_output_tokens: `${config}.maxOutputTokens`,
  presence_penalty: `${config}.presencePenalty`,
  frequency_penalty: `${config}.frequencyPenalty`,
  seed: `${config}.seed`,
  logprobs: `${config}.responseLogprobs`,
  format: `${config}.responseMimeType`,
  response_format: `${config}.responseMimeType`,
  'response_format.schema': `${config}.responseSchema`,
  reasoning: `${config}.thinkingConfig`,
  'reasoning.effort': `${config}.thinkingConfig.thinkingLevel`,
  'reasoning.budget': `${config}.thinkingConfig.thinkingBudget`,
  'reasoning.state': 'thoughtSignature',
  'image.detail': `${config}.mediaResolution`,
  system: 'systemInstruction',
  messages: 'contents',
  tool_choice: 'toolConfig.functionCallingConfig',
  tool_call: 'functionCall',
  tool_result: 'functionResponse',
  file_id: 'fileData.fileUri',
};

/** The client's name of a thing that a codec reports. Names of our own extensions are the client's already. */
export function fieldName(what: string): string {
  const found = names[what] ?? names[snakeCase(what)];
  if (found !== undefined) return found;
  const [first = '', ...rest] = what.split('.');
  const head = names[first];
  // `tool_result.media` is somewhere in `functionResponse`.
  return head !== undefined && rest.length > 0 ? head : what.split('.').map(camelCase).join('.');
}

function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
