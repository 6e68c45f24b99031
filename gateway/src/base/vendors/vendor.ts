import type {
  OperationName,
  ProtocolName,
  TextProtocolName,
  TaskLook,
  VideoProtocolName,
} from '#canonical/index.ts';
import type { ErrorName } from '#errors/index.ts';
import type { Cure } from './cures.ts';
import type { ModelList } from './model-lists.ts';
import type { Quirk, QuirksOfRequest, VendorRepair } from './quirks.ts';
import type { Signing } from './signing.ts';
import { plainTraits, type UpstreamTraits } from './traits.ts';

/** Facts about a vendor, also about one that nothing calls yet. */
export interface VendorFacts {
  /** The folder's name, and the value of a channel's `provider`. */
  readonly name: string;
  /** Null: a channel must set it. A channel of a vendor that `runsHere` gets a child process instead. */
  readonly baseUrl: string | null;
  /** Appended to a base URL that has no path. */
  readonly versionPath: string;
  /** The protocols that it really speaks: those of a channel that lists none. */
  readonly protocols: readonly ProtocolName[];
  /** Others that a channel may list, because some of its servers speak them. Absent: none. */
  readonly alsoSpeaks?: readonly ProtocolName[];
  /** The environment variable whose key offers a first channel when nothing is configured. */
  readonly environmentKey: string | null;
  /** How its keys begin; keys of several vendors may begin alike. Absent: it is not known. */
  readonly keyBeginnings?: readonly string[];
  /** `owned_by` of its models in the bundled catalogue. Absent: the catalogue has no model of it. */
  readonly ownedBy?: string;
  /** `gen_ai.provider.name`, if OpenTelemetry's conventions use another name. */
  readonly telemetryName?: string;
  /** It comes with the gateway: a channel without an address gets a child process. */
  readonly runsHere?: boolean;
  /** The name covers many vendors, which cannot read each other's reasoning state. */
  readonly isManyVendors?: boolean;
}

/** A vendor that requests are sent to: addresses, sign-in, and what its errors mean. */
export interface Vendor extends VendorFacts, Signing {
  /** Protocols in which it counts the tokens of a request without answering it. */
  readonly countsTokensIn: readonly TextProtocolName[];
  /**
   * The text protocols in which it serves a model, the one for converted requests first. Absent: those of the channel, in
   * the channel's order.
   */
  textProtocolsOf?(model: string): readonly TextProtocolName[];
  /** It compacts conversations of `responses`. Absent: it has no endpoint for that. */
  readonly compacts?: boolean;
  /** What comes after the base URL, by protocol. */
  readonly paths: VendorPaths;
  /** Where it lists its models. Absent: it has no list, or nobody knows where. */
  readonly modelList?: ModelList;
  /** The headers of the credential and others that the vendor needs, by lower-case name. Null: no credential. */
  headers(secret: string | null, protocol: ProtocolName): Readonly<Record<string, string>>;
  /** How client headers begin that are forwarded besides the usual ones, in lower case. Absent: none are. */
  readonly forwardedPrefix?: string;
  /** What it charges for besides tokens. */
  readonly surcharges: SurchargeFacts;
  /** What a model accepts that other speakers of the protocol refuse. Absent: `plainTraits`. */
  traitsOf?(model: string, baseUrl: string): UpstreamTraits;
  /** It speaks `images` and has no endpoint for edits: it gets them as generations. Absent: it has one. */
  readonly lacksEdits?: boolean;
  /**
   * In chat its total counts reasoning that no part names, and charges it as output. Absent: a total that is larger than
   * its parts says nothing.
   */
  readonly hidesReasoningInTotal?: boolean;
  /** It gives addresses of images unless it is asked for their bytes. Absent: it gives bytes. */
  readonly imagesByAddress?: boolean;
  /** Members that it refuses although its protocol has them. Absent: none. */
  readonly quirks?: readonly Quirk[];
  /** Faults for which it refuses a request, and which messages upstreams are known to refuse. Absent: none is known. */
  readonly repairs?: readonly VendorRepair[];
  /** How its video tasks are followed. Absent: it makes no videos. */
  readonly tasks?: TaskSides;
}

/** A vendor without a `provider` value of its own. The host of a channel's address identifies it. */
export interface HostedVendor extends Vendor {
  readonly provider: 'openai-compatible';
  readonly baseUrl: string;
  /** Further hosts of it. */
  readonly alsoAt?: readonly string[];
}

/** The paths of one protocol; `{model}` stands for the model. An absent one is that of `generate`. */
export interface ProtocolPaths extends Readonly<Partial<Record<OperationName, string>>> {
  readonly generate: string;
  /** Of a streamed response. */
  readonly stream?: string;
  /** Of an edit of images. */
  readonly edit?: string;
}

export type VendorPaths = Readonly<Partial<Record<ProtocolName, ProtocolPaths>>>;

/**
 * The path of a request after the base URL. The model is percent-encoded here and nowhere else.
 * @throws TypeError for a protocol that the vendor does not speak
 */
export function pathOf(
  { name, paths }: Pick<Vendor, 'name' | 'paths'>,
  { protocol, operation, model, stream, isEdit }: UpstreamTarget,
): string {
  const own = paths[protocol];
  if (own === undefined) throw new TypeError(`${name} is not called for ${protocol}`);
  let path = own[operation];
  if (operation === 'generate' && stream) path = own.stream;
  if (isEdit === true) path = own.edit;
  path ??= own.generate;
  return path.includes('{model}') ? path.replace('{model}', () => encodeURIComponent(model)) : path;
}

const noQuirks: QuirksOfRequest = Object.freeze([]);

/** The quirks of a vendor that apply to requests for a model. An undefined vendor has none. */
export function quirksFor(
  vendor: Pick<Vendor, 'quirks' | 'repairs'> | undefined,
  protocol: TextProtocolName,
  model: string,
): QuirksOfRequest {
  if (vendor?.quirks === undefined && vendor?.repairs === undefined) return noQuirks;
  const { repairs = [], quirks = [] } = vendor;
  return [
    ...repairs.map((id) => ({ id, edit: { repair: id } })),
    ...quirks
      .filter((quirk) => quirk.protocol === protocol && (quirk.models?.test(model) ?? true))
      .map(({ id, edit }) => ({ id, edit })),
  ];
}

/**
 * The traits of one model. An undefined vendor has `plainTraits`.
 * @param baseUrl of the channel
 */
export function traitsFor(
  vendor: Pick<Vendor, 'traitsOf'> | undefined,
  model: string,
  baseUrl: string,
): UpstreamTraits {
  return vendor?.traitsOf?.(model, baseUrl) ?? plainTraits;
}

/** The paths below another base. */
export function pathsBelow(base: string, paths: VendorPaths): VendorPaths {
  const below = (own: ProtocolPaths): ProtocolPaths =>
    Object.fromEntries(Object.entries(own).map(([what, path]) => [what, base + path])) as never;
  return Object.fromEntries(Object.entries(paths).map(([name, own]) => [name, below(own)]));
}

export interface UpstreamTarget {
  readonly protocol: ProtocolName;
  readonly operation: OperationName;
  readonly model: string;
  readonly stream: boolean;
  /** Existing images are edited. Absent: no. Only `images` has a path of its own for it. */
  readonly isEdit?: boolean;
}

/** An error response of an upstream, before or inside a stream. */
export interface UpstreamFailure {
  /** Null inside a stream, unless the event names one. */
  readonly status: number | null;
  /** Parsed JSON when it was JSON, else null. Never shown to anyone but the operator. */
  readonly body: unknown;
  /** Seconds, from `retry-after` and the like; null when the upstream named none. */
  readonly retryAfter: number | null;
}

/** What an upstream's error means for the exchange and for the channel. */
export type Classification =
  /** The client's own fault: no other channel would do better. */
  | {
      readonly kind: 'client';
      readonly error: ErrorName;
      readonly param?: string;
      /** The upstream's code or words say what is wrong. Absent: nothing but the status does. */
      readonly isExplained?: boolean;
      /** What the client's SDK acts on; without any text of the upstream's. */
      readonly details?: Readonly<Record<string, unknown>>;
      /** An edit after which the upstream may take the request. Absent: none is known. */
      readonly cure?: Cure;
    }
  /** Another channel may do better; `as` decides the final error when none does. */
  | {
      readonly kind: 'failover';
      readonly as: 'abnormal' | 'overloaded' | 'rate-limited' | 'model-missing';
      /** What is at fault, and so better left alone for a while. */
      readonly blame: Blame;
      /** The code by which the upstream says so, of those that a table knows. Absent: it gave none. */
      readonly code?: string;
      /** The cool-down, if the upstream or its kind of error determines it. */
      readonly coolDownSeconds?: number;
    };

/**
 * `channel`: the upstream itself fails. `credential`: it was refused, or its account is empty. `quota`: the credential
 * is good and used too fast. `model`: this one is not to be had there. `none`: this request only.
 */
type Blame = 'channel' | 'credential' | 'quota' | 'model' | 'none';

/** How tasks of each dialect are submitted and followed. */
export type TaskSides = Readonly<Partial<Record<VideoProtocolName, TaskSide>>>;

/**
 * How tasks of one dialect are followed at a vendor. A task is submitted by POST to `Vendor.paths` with `Vendor.headers`.
 * Everything here is pure; a body is parsed JSON, or null if it is not JSON.
 */
export interface TaskSide {
  /** Headers of a submit besides those of the credential. No other call may have them. */
  readonly submitHeaders: Readonly<Record<string, string>>;
  /** The upstream's id in the response to a submit; null: it has none, so the response is unusable. */
  readId(body: unknown): string | null;
  /** Asks for one task. */
  look(id: string): TaskCall;
  /** Null: the response cannot be read. */
  readLook(body: unknown): TaskLook | null;
  /** Asks for many tasks with one call. Absent: the vendor has no such call. */
  readonly list?: TaskList;
  /** Cancels a queued task. Absent: the vendor cannot. */
  cancel?(id: string): TaskCall;
  /** Looks per second that one channel may be sent, whether each asks for one task or many. */
  readonly looksPerSecond: number;
}

export interface TaskList {
  /** Ids in one call. */
  readonly most: number;
  call(ids: readonly string[]): TaskCall;
  /** By id; a task that the response does not name is absent. Null: the response cannot be read. */
  read(body: unknown): ReadonlyMap<string, TaskLook> | null;
}

/** Without a body. */
export interface TaskCall {
  readonly method: 'GET' | 'DELETE';
  /** After the base URL. */
  readonly path: string;
}

/**
 * What an error of an upstream means. `account`: the operator's money, plan or permission. `quota`: it was used too fast.
 * `capability`: the model cannot do what was asked for. `client`: the request is at fault otherwise.
 */
export type Fault =
  | 'account'
  | 'body_too_large'
  | 'capability'
  | 'client'
  | 'content_policy'
  | 'context_overflow'
  | 'model_missing'
  | 'overloaded'
  | 'previous_response_not_found'
  | 'quota';

/**
 * How one vendor, or one kind of server, says what is wrong. Gateways and hosts pass on each other's errors, so every table
 * counts at every upstream. A new way to say it is one line with its source, and a sample in `faults.test.ts`.
 */
export interface FaultTable {
  /**
   * By code, type, status word or reason, in any case; a word with a dot also by the part before it. With an HTTP status
   * before the word (`429 1113`): only beside that status, 200 for an error inside of a response. A number is the HTTP status of an error that comes without one,
   * as in a stream.
   */
  readonly words: Readonly<Record<string, Fault | number>>;
  /**
   * By what the text says. It may quote what the client wrote, unless the expression begins with `^`: then the text
   * itself begins so.
   */
  readonly texts: readonly (readonly [text: RegExp, fault: Fault])[];
}

/** What a vendor charges for besides tokens, as far as requests ask for it. */
export interface SurchargeFacts {
  /** Terms that make a response dearer, such as `service_tier.priority`; a `*` stands for any other value of the field. */
  readonly dear: readonly string[];
  readonly betas: readonly BetaFact[];
}

/** A beta that changes what a response costs; what it needs decides whether it is passed on. */
export interface BetaFact {
  /** How its name begins. */
  readonly prefix: string;
  /** The surcharge that must have a price or be allowed. */
  readonly term?: string;
  /** The context window, in tokens, that the model must exceed. */
  readonly windowAbove?: number;
}

export const noSurcharges: SurchargeFacts = Object.freeze({ dear: [], betas: [] });

/** Whether a vendor charges more for a term. */
export function isDear({ dear }: SurchargeFacts, term: string): boolean {
  return dear.some((each) =>
    each.endsWith('.*') ? term.startsWith(each.slice(0, -1)) : each === term,
  );
}

/** Of several vendors whose protocols one upstream may speak. */
export function joinedSurcharges(...facts: readonly SurchargeFacts[]): SurchargeFacts {
  return Object.freeze({
    dear: facts.flatMap(({ dear }) => dear),
    betas: facts.flatMap(({ betas }) => betas),
  });
}
