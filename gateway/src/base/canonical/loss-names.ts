/**
 * The one vocabulary of `Loss.what` for everything that the canonical model knows: a thing has the same name whichever
 * protocol lost it. Each codec's `fieldName` says what a client of that protocol calls it. What the model does not know
 * (extensions, blocks of an unknown type) goes by the name its client wrote.
 */
export const lossNames = Object.freeze({
  max_output_tokens: 'the limit of the answer',
  temperature: 'the sampling temperature',
  top_p: 'nucleus sampling',
  top_k: 'sampling among so many tokens',
  presence_penalty: 'a penalty on what was said before',
  frequency_penalty: 'a penalty on what was said often',
  seed: 'the seed of the sampling',
  stop: 'sequences that end the answer',
  n: 'several answers',
  logprobs: 'probabilities of the tokens',
  verbosity: 'how long the answer is to be',
  user: 'the end user',
  cache: 'a place where a prompt cache may end',
  cache_key: 'which requests share a prompt cache',

  response_format: 'the form of the answer',
  'response_format.schema': 'keywords of its schema',

  reasoning: 'thinking',
  'reasoning.effort': 'how much is thought',
  'reasoning.budget': 'how much is thought, in tokens',
  'reasoning.state': 'signed or encrypted thoughts of earlier turns',

  tool_choice: 'which tool must or may be called',
  parallel_tool_calls: 'several calls at once',
  'tools.custom': 'a tool called with free text',
  'tools.namespace': 'the namespace of a tool',
  'tool.strict': 'arguments that are held to the schema',
  'tool.schema': 'keywords of the schema of a tool',

  messages: 'who speaks first and last',
  system: 'instructions in the middle of a conversation',
  'message.name': 'the name of a speaker',
  citations: 'what a text rests on',
  tool_call: 'a call without its result',
  'tool_call.arguments': 'arguments that are not the JSON of an object',
  tool_result: 'a result without its call',
  'tool_result.content': 'what no result can hold',
  'tool_result.is_error': 'that a call failed',
  'tool_result.media': 'pictures and files in a result',

  image: 'a picture',
  'image.url': 'a picture by its address',
  'image.detail': 'how closely a picture is looked at',
  file: 'a file',
  'file.url': 'a file by its address',
  'file.filename': 'the name of a file',
  audio: 'sound',
  'audio.url': 'sound by its address',
  video: 'a film',
  'video.url': 'a film by its address',
  'media.url': 'media by their addresses',
  file_id: 'a file that one vendor keeps',
});

/**
 * What of an answer the client's protocol has no place for; only the usage row is told. A block that only the upstream's
 * vendor understands, such as the trace of a tool that it ran, goes by its own name there: `answer.web_search_call`.
 */
export const answerLossNames = Object.freeze({
  'answer.audio': 'sound',
  'answer.candidates': 'answers beside the first',
  'answer.citations': 'what a text rests on',
  'answer.file': 'a file',
  'answer.image': 'a picture',
  'answer.logprobs': 'probabilities of the tokens',
  'answer.video': 'a film',
});

export type KnownLoss = keyof typeof lossNames;
export type AnswerLoss = keyof typeof answerLossNames | `answer.${string}`;

/** A known thing, or a tool that only a vendor runs, by the name the client gave it. */
export type LossName = KnownLoss | `tools.${string}`;
