import { mostOptional, mostStrictTools, mostUnions, type SchemaCost } from './output-keywords.ts';
import type { SchemaFault } from './output-schema.ts';

/** What the limits of one request still have room for. */
export class StrictRoom {
  #tools = mostStrictTools;
  #optional = mostOptional;
  #unions = mostUnions;

  /** Takes the room of the response format. Returns why there is none; null if there is. */
  takeFormat({ optional, unions }: SchemaCost): SchemaFault | null {
    this.#optional -= optional;
    this.#unions -= unions;
    if (this.#unions < 0) return tooMany(unions, 'unions', mostUnions);
    return this.#optional < 0 ? tooMany(optional, 'optional properties', mostOptional) : null;
  }

  /** Takes the room of a strict tool, if there is any. */
  takeTool({ optional, unions }: SchemaCost): boolean {
    if (this.#tools < 1 || this.#optional < optional || this.#unions < unions) return false;
    this.#tools -= 1;
    this.#optional -= optional;
    this.#unions -= unions;
    return true;
  }
}

function tooMany(count: number, things: string, most: number): SchemaFault {
  return { path: '', reason: `has ${count} ${things}, of which ${most} are possible` };
}
