import { GatewayError } from '#errors/index.ts';
import { refuseRepeatedMembers } from '#json/index.ts';
import { isRecord, type JsonRecord } from './values.ts';

/** Something that an upstream keeps and that a request may name by its id. */
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

/** An id, in one spelling whatever the client's. */
export interface StateName {
  readonly kind: StateKind;
  readonly id: string;
}

export interface NamedState extends StateName {
  /** The member that names it, as the client wrote it. */
  readonly param: string;
}

/** How one member names state: by a string, a list of strings, or an object with an `id`. */
export interface StateMember {
  readonly kind: StateKind;
  /** A string there is no id. */
  readonly objectOnly?: true;
  /** The id in its one spelling; null for a text that is no id. */
  readonly idOf?: (text: string) => string | null;
}

/** Which members of a protocol's requests name state. Data: the walk is the same for all. */
export interface StateMembers {
  /** Of the body itself. */
  readonly root: Readonly<Record<string, StateMember>>;
  /** Wherever they stand: vendors add places faster than anybody lists them. */
  readonly anywhere: Readonly<Record<string, StateMember>>;
  /** Not looked into: what they hold is the client's own (schemas, arguments), or tells where an answer is from. */
  readonly opaque: readonly string[];
  /** A list of the body whose objects have an `id` and a `type`, and which of them say nothing else. */
  readonly items?: { readonly at: string; readonly isNamed: (item: JsonRecord) => boolean };
}

/** More than any conversation refers to. Each is looked up. */
const mostNames = 4_096;

const opaque = Symbol('opaque');
type Rule = StateMember | typeof opaque;

/** @throws GatewayError `invalid_value` when more is named than any request has to, `duplicate_key`. */
export type ReadNamedState = (json: JsonRecord, body: Buffer) => readonly NamedState[] | undefined;

/**
 * Compiles the list into a walk over a parsed body. Linear in its values; undefined when nothing is named, which is
 * nearly always.
 */
export function namedStateReader(members: StateMembers): ReadNamedState {
  const inner = compile(members.anywhere, members.opaque);
  const root = compile({ ...members.anywhere, ...members.root }, members.opaque);
  const { items } = members;
  const ofItems = items === undefined ? [] : ['id', 'type'];
  const watched = [...new Set([...inner.names, ...root.names, ...ofItems])];

  return (json, body) => {
    const found = new Found();
    walkObject(json, root, inner, found);
    if (items !== undefined) addItems(found, json[items.at], items.isNamed);
    if (!found.met) return undefined;
    // Of two members with one name the upstream might read the other one.
    refuseRepeatedMembers(body, watched);
    return found.names.size === 0 ? undefined : [...found.names.values()];
  };
}

class Found {
  readonly names = new Map<string, NamedState>();
  /** There is a member that names something, or would if it were read otherwise. */
  met = false;

  add(kind: StateKind, id: string, param: string): void {
    if (id === '' || this.names.has(id)) return;
    if (this.names.size === mostNames) {
      const reason = `${param} names more than ${mostNames} stored objects`;
      throw new GatewayError('invalid_value', { values: { reason }, param });
    }
    this.names.set(id, { kind, id, param });
  }
}

interface Rules {
  /** The lengths of the names, so that most members are passed by without a look-up. */
  readonly lengths: readonly boolean[];
  readonly byName: ReadonlyMap<string, Rule>;
  /** Without the opaque ones. */
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

function ruleOf({ lengths, byName }: Rules, name: string): Rule | undefined {
  if (lengths[name.length] !== true) return undefined;
  // Some servers read names whatever their case.
  return byName.get(name) ?? byName.get(name.toUpperCase().toLowerCase());
}

function walk(value: unknown, rules: Rules, found: Found): void {
  if (Array.isArray(value)) {
    for (const element of value as readonly unknown[]) {
      if (typeof element === 'object' && element !== null) walk(element, rules, found);
    }
  } else if (typeof value === 'object' && value !== null) {
    walkObject(value as JsonRecord, rules, rules, found);
  }
}

function walkObject(object: JsonRecord, rules: Rules, inner: Rules, found: Found): void {
  for (const name in object) {
    const rule = ruleOf(rules, name);
    if (rule === opaque) continue;
    const value = object[name];
    // Of a root's members none is there twice: the scan has seen to it. Clients write many of them as null.
    if (rule !== undefined && (value !== null || rules === inner)) read(found, rule, name, value);
    if (typeof value === 'object' && value !== null) walk(value, inner, found);
  }
}

function read(found: Found, member: StateMember, name: string, value: unknown): void {
  const { kind, objectOnly = false, idOf } = member;
  found.met = true;
  if (Array.isArray(value)) {
    for (const element of value) if (typeof element === 'string') take(element);
    return;
  }
  const text = isRecord(value) ? value['id'] : objectOnly ? undefined : value;
  if (typeof text === 'string') take(text);

  function take(written: string): void {
    const id = idOf === undefined ? written : idOf(written);
    if (id !== null) found.add(kind, id, name);
  }
}

function addItems(found: Found, list: unknown, isNamed: (item: JsonRecord) => boolean): void {
  if (!Array.isArray(list)) return;
  for (const item of list as readonly unknown[]) {
    if (!isRecord(item) || typeof item['id'] !== 'string') continue;
    found.met = true;
    if (isNamed(item)) found.add('item', item['id'], 'input');
  }
}
