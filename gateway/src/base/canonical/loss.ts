/**
 * A part of a request or a response that the other protocol cannot express. The usage row and a
 * header report it: a loss is data, never silence.
 */
export interface Loss {
  /** A `LossName` (`temperature`, `image.detail`), or the client's own name of what only its protocol has. */
  readonly what: string;
  /** Left out, or carried as something close. */
  readonly how: 'dropped' | 'approximated';
}

/**
 * A part that cannot be converted, and without which the response would be materially different. The conversion turns
 * it into a 400 that names the client's own field.
 */
export class Unconvertible extends Error {
  /** The same vocabulary as `Loss.what`. */
  readonly what: string;
  /** The client's field, if the thrower knows it more exactly than `what`: `messages.3.content.0.image_url.url`. */
  readonly param: string | null;
  /** @param reason one sentence for the caller: what is not available, and what to do about it */
  constructor(what: LossName, reason: string, param: string | null = null) {
    super(reason);
    this.name = 'Unconvertible';
    this.what = what;
    this.param = param;
  }

  /** For something that only the client's protocol has, under its name there. */
  static ofClient(name: string, reason: string): Unconvertible {
    return new Unconvertible(name as LossName, reason);
  }
}

/**
 * The vocabulary of `Loss.what` for everything in the canonical model: the same name whichever protocol lost it. Each
 * codec's `fieldName` gives the client's own name for it. Things outside the model (extensions, blocks of an unknown
 * type) keep the name that the client wrote.
 */
export const lossNames = Object.freeze({
  max_output_tokens: 'the limit of the response',
  temperature: 'the sampling temperature',
  top_p: 'nucleus sampling',
  top_k: 'sampling among the k likeliest tokens',
  presence_penalty: 'a penalty on tokens that occurred before',
  frequency_penalty: 'a penalty on tokens that occurred often',
  seed: 'the seed of the sampling',
  stop: 'sequences that end the response',
  n: 'several choices',
  logprobs: 'probabilities of the tokens',
  verbosity: 'the length of the response',
  user: 'the end user',
  cache: 'a prompt cache breakpoint',
  cache_key: 'which requests share a prompt cache',

  response_format: 'the format of the response',
  'response_format.schema': 'keywords of its schema',

  reasoning: 'reasoning',
  'reasoning.effort': 'the amount of reasoning',
  'reasoning.budget': 'the amount of reasoning, in tokens',
  'reasoning.state': 'signed or encrypted reasoning of earlier turns',

  tool_choice: 'which tool must or may be called',
  parallel_tool_calls: 'several calls at once',
  'tools.custom': 'a tool called with free text',
  'tools.namespace': 'the namespace of a tool',
  'tool.strict': 'arguments that strictly follow the schema',
  'tool.schema': 'keywords of the schema of a tool',

  messages: 'who speaks first and last',
  system: 'instructions in the middle of a conversation',
  'message.name': 'the name of a speaker',
  citations: 'sources of a text',
  tool_call: 'a call without its result',
  'tool_call.arguments': 'arguments that are not the JSON of an object',
  tool_result: 'a result without its call',
  'tool_result.content': 'content that a result cannot hold',
  'tool_result.is_error': 'the mark of a failed call',
  'tool_result.media': 'pictures and files in a result',

  image: 'a picture',
  'image.url': 'a picture by URL',
  'image.detail': 'how closely a picture is looked at',
  file: 'a file',
  'file.url': 'a file by URL',
  'file.filename': 'the name of a file',
  audio: 'sound',
  'audio.url': 'sound by URL',
  video: 'a film',
  'video.url': 'a film by URL',
  'media.url': 'media by URL',
  file_id: 'a file that one vendor keeps',
});

/**
 * Parts of a response that the client's protocol cannot express; only the usage row records them. A block that only the
 * upstream's vendor understands, such as the trace of a tool that it ran, keeps its own name there:
 * `answer.web_search_call`.
 */
export const responseLossNames = Object.freeze({
  'answer.audio': 'sound',
  'answer.candidates': 'choices after the first',
  'answer.citations': 'sources of a text',
  'answer.file': 'a file',
  'answer.finish': 'why the response ended',
  'answer.image': 'a picture',
  'answer.logprobs': 'probabilities of the tokens',
  'answer.video': 'a film',
});

export type KnownLoss = keyof typeof lossNames;
export type ResponseLoss = keyof typeof responseLossNames | `answer.${string}`;

/** A known thing, or a tool that only a vendor runs, by the name the client gave it. */
export type LossName = KnownLoss | `tools.${string}`;

/** Clients invent field names of any length; this much of a name goes into a header and a row. */
const nameLimit = 64;

/** The losses of one attempt, without duplicates. */
export class LossList {
  readonly #losses = new Map<string, Loss>();

  add(what: string, how: Loss['how']): void {
    const name = printable(what);
    this.#losses.set(`${how} ${name}`, { what: name, how });
  }

  addAll(losses: readonly Loss[]): void {
    for (const { what, how } of losses) this.add(what, how);
  }

  dropped(what: LossName): void {
    this.add(what, 'dropped');
  }

  approximated(what: LossName): void {
    this.add(what, 'approximated');
  }

  /** Sorted by name. */
  all(): readonly Loss[] {
    return [...this.#losses.values()].toSorted((a, b) => compare(a.what, b.what));
  }
}

function printable(what: string): string {
  return what.slice(0, nameLimit).replace(/[^\w.[\]-]/g, '_');
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
