import type { JsonRecord } from '../../../values.ts';

/** A member of a changed copy that shall not be there any more. */
export const gone = undefined;

/**
 * Changed copies of parsed JSON, which itself is never touched. Each copy knows what it was made from, so that only
 * what differs is written anew.
 */
export class Copies {
  readonly #origins = new Map<object, object>();

  get origins(): ReadonlyMap<object, object> {
    return this.#origins;
  }

  /** A copy with other members; `gone` removes one. */
  change<Value extends JsonRecord>(value: Value, members: JsonRecord): Value {
    const copy: Record<string, unknown> = { ...value, ...members };
    for (const name of Object.keys(members)) if (members[name] === gone) delete copy[name];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy as Value;
  }

  /** A list that stands in the place of another. */
  list<Element>(value: readonly unknown[], elements: readonly Element[]): readonly Element[] {
    const copy = [...elements];
    this.#origins.set(copy, this.#origins.get(value) ?? value);
    return copy;
  }

  /** Another element in the place of each, or none for null; the list itself when nothing in it was replaced. */
  mapList<Element>(
    elements: readonly Element[],
    replace: (element: Element, index: number) => Element | null,
  ): readonly Element[] {
    const next = elements.map(replace);
    if (next.every((element, index) => element === elements[index])) return elements;
    // A null of the client's own stays where it was.
    const stays = (element: Element | null, index: number): element is Element =>
      element !== null || elements[index] === null;
    return this.list(elements, next.filter(stays));
  }
}
