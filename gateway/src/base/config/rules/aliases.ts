import type { Report } from '../issues.ts';
import { isName } from '../leaf.ts';
import { hasFewStars } from '../pattern.ts';
import { describe, isAbsent, isMapping, type RawValue, Scalar, textOf } from '../scalar.ts';
import { describeName, isModelId, type Names } from './names.ts';

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
