import { GatewayError } from '#errors/index.ts';
import { LongText, refuseRepeatedMembers } from '#json/index.ts';
import { refuseValue } from '../text/request-values.ts';
import { isRecord, type JsonRecord } from '../values.ts';

/** What an upstream stores and a request may name by its id. */
export type StateKind =
  | 'response'
  | 'item'
  | 'conversation'
  | 'prompt'
  | 'file'
  | 'vector-store'
  | 'container'
  | 'cache'
  | 'audio'
  | 'voice'
  | 'skill';

/** A stored object's id, in one spelling whatever the client wrote. */
export interface StateName {
  readonly kind: StateKind;
  readonly id: string;
}

export interface NamedState extends StateName {
  /** The member with the name, as the client wrote it. */
  readonly param: string;
}

/** How one member names state: by a string, a list of strings, or an object with an `id`. */
export interface StateMember {
  readonly kind: StateKind;
  /** A string in this member is not an id. */
  readonly objectOnly?: true;
  /** The id in its one spelling; null if the text is not an id. */
  readonly idOf?: (text: string) => string | null;
}

/** The members of a protocol's requests that name state. One walk serves all protocols. */
interface StateMembers {
  /** At the top level of the body. */
  readonly root: Readonly<Record<string, StateMember>>;
  /** At any depth: vendors add places faster than anybody can list them. */
  readonly anywhere: Readonly<Record<string, StateMember>>;
  /** Members that are not searched: they hold the client's own data (schemas, arguments), or cite sources. */
  readonly opaque: readonly string[];
  /** A list of objects with `id` and `type`, and which of them consist of nothing else. */
  readonly items?: { readonly at: string; readonly isNamed: (item: JsonRecord) => boolean };
}

/** More than any conversation refers to. Each costs a look-up. */
const mostNames = 4_096;

const opaque = Symbol('opaque');
type Rule = StateMember | typeof opaque;

/** @throws GatewayError `invalid_value` for more names than any request needs, `duplicate_key`. */
type ReadNamedState = (json: JsonRecord, body: Buffer) => readonly NamedState[] | undefined;

/**
 * Compiles the list into a walk over a parsed body, linear in its values. The walk returns undefined if nothing is
 * named, as in nearly every request.
 */
export function namedStateReader(members: StateMembers): ReadNamedState {
  const inner = compile(members.anywhere, members.opaque);
  const root = compile({ ...members.anywhere, ...members.root }, members.opaque);
  const { items } = members;
  const ofItems = items === undefined ? [] : ['id', 'type'];
  const watched = [...new Set([...inner.names, ...root.names, ...ofItems])];

  return (json, body) => {
    const findings: Found = { names: null, met: false };
    walkObject(json, root, inner, findings);
    if (items !== undefined) addItems(findings, json[items.at], items.isNamed);
    if (!findings.met) return undefined;
    // With two members of one name, the upstream might read the other one.
    refuseRepeatedMembers(body, watched);
    return findings.names === null ? undefined : [...findings.names.values()];
  };
}

interface Found {
  /** By id; null before the first. */
  names: Map<string, NamedState> | null;
  /** A member names something, or would if another parser read it. */
  met: boolean;
}

function add(findings: Found, kind: StateKind, id: string, param: string): void {
  if (id === '') return;
  findings.names ??= new Map();
  if (findings.names.has(id)) return;
  if (findings.names.size === mostNames) {
    const reason = `${param} names more than ${mostNames} stored objects`;
    throw new GatewayError('invalid_value', { values: { reason }, param });
  }
  findings.names.set(id, { kind, id, param });
}

interface Rules {
  /** The lengths of the names: most members are skipped without a look-up. */
  readonly lengths: readonly boolean[];
  readonly byName: ReadonlyMap<string, Rule>;
  /** Excludes the opaque ones. */
  readonly names: readonly string[];
}

function compile(
  members: Readonly<Record<string, StateMember>>,
  opaqueNames: readonly string[],
): Rules {
  const byName = new Map<string, Rule>(opaqueNames.map((name) => [name, opaque]));
  for (const [name, member] of Object.entries(members)) byName.set(name, member);
  const lengths: boolean[] = [];
  for (const name of byName.keys()) lengths[name.length] = true;
  return { lengths, byName, names: Object.keys(members) };
}

function walk(value: unknown, rules: Rules, findings: Found): void {
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      if (typeof element === 'object' && element !== null) walk(element, rules, findings);
    }
  } else if (typeof value === 'object' && value !== null && !(value instanceof LongText)) {
    walkObject(value as JsonRecord, rules, rules, findings);
  }
}

function walkObject(object: JsonRecord, rules: Rules, inner: Rules, findings: Found): void {
  for (const name in object) {
    // Some servers ignore the case of names.
    const rule = rules.lengths[name.length]
      ? (rules.byName.get(name) ?? rules.byName.get(name.toUpperCase().toLowerCase()))
      : undefined;
    if (rule === opaque) continue;
    const value = object[name];
    // The scan has refused repeated members at the top level. Clients write many of these members as null.
    if (rule !== undefined && (value !== null || rules === inner))
      read(findings, rule, name, value);
    if (typeof value === 'object' && value !== null) walk(value, inner, findings);
  }
}

function read(findings: Found, member: StateMember, name: string, value: unknown): void {
  const { kind, objectOnly = false, idOf } = member;
  findings.met = true;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'string') take(element);
    return;
  }
  if (value instanceof LongText) refuseValue(name, 'is too long for the id of a stored object');
  const text = isRecord(value) ? value['id'] : objectOnly ? undefined : value;
  if (typeof text === 'string') take(text);

  function take(writtenId: string): void {
    const id = idOf === undefined ? writtenId : idOf(writtenId);
    if (id !== null) add(findings, kind, id, name);
  }
}

function addItems(findings: Found, list: unknown, isNamed: (item: JsonRecord) => boolean): void {
  if (!Array.isArray(list)) return;
  for (const item of list as readonly unknown[]) {
    if (!isRecord(item) || typeof item['id'] !== 'string') continue;
    findings.met = true;
    if (isNamed(item)) add(findings, 'item', item['id'], 'input');
  }
}

/** More than any response has. Names beyond it are not remembered. */
const mostGiven = 1_000;

/** Collects the ids that one streamed response gives out, each once. */
export class GivenState {
  readonly names: StateName[] = [];
  readonly #knownIds = new Set<string>();

  add(kind: StateKind, id: unknown): void {
    if (typeof id !== 'string' || id === '' || this.#knownIds.has(id)) return;
    if (this.names.length === mostGiven) return;
    this.#knownIds.add(id);
    this.names.push({ kind, id });
  }
}
