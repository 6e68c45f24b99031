import type { JsonRecord } from '../../../shared/values.ts';

/** Marks a member to be removed from a changed copy. */
export const gone = undefined;

/**
 * Changed copies of parsed JSON, which itself is never modified. Each copy knows its original, so that only differences
 * are written anew.
 */
export class Copies {
  readonly #origins = new Map<object, object>();

  get origins(): ReadonlyMap<object, object> {
    return this.#origins;
  }

  /** A copy with changed members. `gone` removes one. */
  change<Value extends JsonRecord>(value: Value, members: JsonRecord): Value {
    const copy: Record<string, unknown> = { ...value, ...members };
    for (const name of Object.keys(members)) if (members[name] === gone) delete copy[name];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy as Value;
  }

  /** A list that replaces another. */
  list<Element>(value: readonly unknown[], elements: readonly Element[]): readonly Element[] {
    const copy = [...elements];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy;
  }

  /** Replaces each element, or removes it for null. Returns the same list if nothing changed. */
  mapList<Element>(
    elements: readonly Element[],
    replace: (element: Element, index: number) => Element | null,
  ): readonly Element[] {
    const next = elements.map(replace);
    if (next.every((element, index) => element === elements[index])) return elements;
    // The client's own null stays.
    const stays = (element: Element | null, index: number): element is Element =>
      element !== null || elements[index] === null;
    return this.list(elements, next.filter(stays));
  }
}
