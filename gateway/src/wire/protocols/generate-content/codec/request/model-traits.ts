import type { Budget } from '#json/index.ts';
import type { Losses } from '../../../shared/text/losses.ts';

/** Shared by all steps that encode one request. */
export interface EncodeContext {
  readonly losses: Losses;
  /** The rest of the request's budget. */
  readonly budget: Budget;
  readonly model: ModelTraits;
  /** The names of the functions, by the ids of earlier calls. */
  readonly callNames: Map<string, string>;
  /** The levels of detail that the images' blocks ask for. */
  readonly details: Set<string>;
}

export type ThinkingLevel = 'MINIMAL' | 'LOW' | 'MEDIUM' | 'HIGH';

/** Differences between generations of models of this protocol that matter to a request. */
export interface ModelTraits {
  readonly thinking:
    | { readonly by: 'level'; readonly levels: readonly ThinkingLevel[] }
    | {
        readonly by: 'budget';
        readonly least: number;
        readonly most: number;
        readonly canBeOff: boolean;
      }
    | { readonly by: 'none' };
  /** Refuses a call of the current turn whose thought signature is missing. */
  readonly demandsSignatures: boolean;
  /** Accepts ids of calls, and media inside tool results. */
  readonly callIds: boolean;
  readonly resultMedia: boolean;
  /** Runs hosted tools beside declared functions. */
  readonly mixesTools: boolean;
  /** Enforces a response format beside declared functions. */
  readonly formsBesideTools: boolean;
  /** Takes JSON Schema beside the API's own dialect. */
  readonly jsonSchema: boolean;
}

const third = {
  demandsSignatures: true,
  callIds: true,
  resultMedia: true,
  mixesTools: true,
  formsBesideTools: true,
  jsonSchema: true,
};
const earlier = {
  demandsSignatures: false,
  callIds: false,
  resultMedia: false,
  mixesTools: false,
  formsBesideTools: false,
  jsonSchema: false,
};

/**
 * The traits by the model's name, as the vendor documents the generations. An unknown name gets what all accept.
 * @param capabilities from the catalogue; empty if unknown
 */
export function modelTraits(model: string, capabilities: ReadonlySet<string>): ModelTraits {
  const name = model.toLowerCase();
  const generation = generationOf(name);
  const thinks = capabilities.size === 0 || capabilities.has('reasoning');
  if (generation !== null && generation >= 3) {
    const levels = levelsOf(name, generation);
    return { ...third, thinking: thinks ? { by: 'level', levels } : { by: 'none' } };
  }
  if (!thinks || (generation !== null && generation < 2.5)) {
    const jsonSchema = generation !== null && generation >= 2.5;
    return { ...earlier, jsonSchema, thinking: { by: 'none' } };
  }
  const jsonSchema = generation !== null;
  return { ...earlier, jsonSchema, thinking: { by: 'budget', ...budgetOf(name) } };
}

/** `gemini-3.1-pro-preview` is 3.1. `gemini-flash-latest` follows the newest, which is beyond 3. */
function generationOf(name: string): number | null {
  const match = /gemini-(\d+(?:\.\d+)?)/.exec(name);
  if (match !== null) return Number(match[1]);
  const family = name.indexOf('gemini-');
  return family >= 0 && name.includes('latest', family) ? 3.5 : null;
}

function levelsOf(name: string, generation: number): readonly ThinkingLevel[] {
  if (!name.includes('pro')) return ['MINIMAL', 'LOW', 'MEDIUM', 'HIGH'];
  return generation === 3 ? ['LOW', 'HIGH'] : ['LOW', 'MEDIUM', 'HIGH'];
}

function budgetOf(name: string) {
  if (name.includes('pro')) return { least: 128, most: 32_768, canBeOff: false };
  return { least: name.includes('lite') ? 512 : 1, most: 24_576, canBeOff: true };
}
