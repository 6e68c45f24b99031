import type { Report } from '../problem.ts';
import {
  describe,
  isAbsent,
  isMapping,
  quote,
  type RawMapping,
  type RawValue,
  Scalar,
  textOf,
} from '../scalar.ts';
import { isName } from '../leaf.ts';
import { hasFewStars, isPattern } from '../pattern.ts';
import { modelTypes } from '../kinds/model-type.ts';
import { feeNames, isSurchargeName, priceParts, surchargeFields } from '../kinds/price.ts';
import { describeName, isModelId, type Names } from './names.ts';

/** Checks that the shape of one catalogue entry cannot express: which price parts go together, and references. */
export function checkModel(raw: RawMapping, index: number, names: Names, report: Report): void {
  const path = ['models', index];
  const id = textOf(raw['id']);
  if (id !== null && isPattern(id)) {
    report([...path, 'id'], 'a name without *', describe(raw['id']));
  }
  if (id !== null && names.aliases.has(id)) {
    report([...path, 'id'], 'a name that is not an alias too', describe(raw['id']));
  }
  const type = textOf(raw['type']);
  if (isMapping(raw['price']) && type !== null) checkPrice(raw['price'], type, index, report);
}

function checkPrice(price: RawMapping, type: string, index: number, report: Report): void {
  const path = ['models', index, 'price'];
  if (!(modelTypes as readonly string[]).includes(type)) return;
  // What a model makes decides which parts it can be charged by.
  const knownParts = new Set(
    priceParts.filter(({ types }) => types.some((each) => each === type)).map(({ name }) => name),
  );
  const givenParts = Object.keys(price).filter((part) => !isAbsent(price[part]));
  const everyPart = new Set(priceParts.map(({ name }) => name));
  for (const part of givenParts) {
    // Misspelt parts are reported as unknown keys.
    if (knownParts.has(part) || !everyPart.has(part)) continue;
    report(
      [...path, part],
      `a price part of ${type} models (${[...knownParts].join(', ')})`,
      quote(part),
    );
  }
  const both = (left: string, right: string) =>
    givenParts.includes(left) && givenParts.includes(right);
  if (both('video_second', 'video_tokens')) {
    report([...path, 'video_tokens'], 'either video_second or video_tokens', 'both');
  }
  if (both('image_tiers', 'output')) {
    report([...path, 'image_tiers'], 'either image_tiers or input and output', 'both');
  }
  if (both('image_tiers', 'multipliers')) {
    report([...path, 'multipliers'], 'input and output beside it', 'image_tiers');
  }
  checkPromptTiers(price['tiers'], index, report);
  checkTiers(price['image_tiers'], index, report);
  for (const part of ['video_second', 'video_tokens'] as const) {
    const entries = price[part];
    if (isMapping(entries) && Object.keys(entries).length === 0) {
      report([...path, part], 'at least one resolution', 'an empty mapping');
    }
  }
  checkNames(price['multipliers'], [...path, 'multipliers'], report, {
    expected: `one of ${surchargeFields.join(', ')} and a value in lower case, such as service_tier.priority`,
    accepts: isSurchargeName,
  });
  checkNames(price['fees'], [...path, 'fees'], report, {
    expected: `a use that is charged (${feeNames.join(', ')})`,
    accepts: (name) => (feeNames as readonly string[]).includes(name),
  });
}

/** Reports names that no response can ever report. */
function checkNames(
  entries: RawValue,
  path: readonly (string | number)[],
  report: Report,
  { expected, accepts }: { readonly expected: string; accepts(name: string): boolean },
): void {
  if (!isMapping(entries)) return;
  const names = Object.keys(entries);
  if (names.length === 0) report([...path], 'at least one entry', 'an empty mapping');
  for (const name of names) {
    if (!accepts(name)) report([...path, name], expected, quote(name));
  }
}

/** The last tier that the prompt passes is in force, so each begins above the one before. */
function checkPromptTiers(tiers: RawValue, index: number, report: Report): void {
  if (!Array.isArray(tiers)) return;
  const path = ['models', index, 'price', 'tiers'];
  if (tiers.length === 0) report(path, 'at least one tier', 'an empty list');
  let last: number | null = null;
  tiers.forEach((tier: RawValue, at) => {
    if (!isMapping(tier)) return;
    if (Object.keys(tier).every((part) => part === 'above' || isAbsent(tier[part]))) {
      report([...path, at], 'at least one price', 'none');
    }
    const { above } = tier;
    if (!(above instanceof Scalar) || typeof above.value !== 'number') return;
    if (last !== null && above.value <= last) {
      report([...path, at, 'above'], `more than ${last}, the tier before`, above.source);
    }
    last = above.value;
  });
}

/** The first matching tier wins, so a tier no larger than the one before is unreachable. */
function checkTiers(tiers: RawValue, index: number, report: Report): void {
  if (!Array.isArray(tiers)) return;
  const path = ['models', index, 'price', 'image_tiers'];
  if (tiers.length === 0) report(path, 'at least one tier', 'an empty list');
  let largest: number | null = null;
  const seenNames = new Set<string>();
  tiers.forEach((tier: RawValue, at) => {
    if (!isMapping(tier)) return;
    const name = textOf(tier['name']);
    if (name !== null && seenNames.has(name)) {
      report([...path, at, 'name'], 'each tier once', `${describe(tier['name'])} again`);
    }
    if (name !== null) seenNames.add(name);
    const pixels = tier['max_pixels'];
    if (!(pixels instanceof Scalar) || typeof pixels.value !== 'number') return;
    if (largest !== null && pixels.value <= largest) {
      report([...path, at, 'max_pixels'], `more than ${largest}, the tier before`, pixels.source);
    }
    largest = pixels.value;
  });
}

/** `aliases`: other names for models of the catalogue. An alias of an alias is refused: one step, one price. */
export function checkAliases(raw: RawValue, names: Names, report: Report): Record<string, string> {
  if (isAbsent(raw) || (raw instanceof Scalar && raw.broken)) return {};
  if (!isMapping(raw)) {
    report(['aliases'], 'a mapping', describe(raw));
    return {};
  }
  const aliases: [string, string][] = [];
  for (const [alias, value] of Object.entries(raw)) {
    const path = ['aliases', alias];
    const target = textOf(value);
    if (value instanceof Scalar && value.broken) continue;
    if (!isName(alias))
      report(path, 'a model name', 'text with control characters or spaces around it');
    else if (!hasFewStars(alias)) report(path, 'at most 8 stars', JSON.stringify(alias));
    else if (target === null || target === '') report(path, 'a model id', describe(value));
    else if (names.aliases.has(target) && !names.declaredModels.has(target)) {
      // This includes an alias with the name of a bundled model, which it replaces.
      report(path, 'a model id, not another alias', describe(value));
    } else if (isModelId(target, names)) aliases.push([alias, target]);
    else if (names.bundledAliases.has(target)) {
      report(path, 'a model id, not another alias', describe(value));
    } else {
      const ids = [...names.declaredModels.keys(), ...names.bundledModels];
      report(path, 'a model of models or the bundled catalogue', describeName(value, ids, report));
    }
  }
  return Object.fromEntries(aliases);
}
