import { isExactMapping, type ExactMapping } from '../../price-lists/index.ts';
import { kinds, parseEntry } from '#config/index.ts';
import type { Draft } from '../draft.ts';
import { isServedName } from '../names.ts';
import type { Notes } from '../notes.ts';
import { environmentName, mappingAt, textOf } from './values.ts';

/** @param names of the imported models */
export function readAliases(
  file: ExactMapping,
  names: ReadonlySet<string>,
  notes: Notes,
): Map<string, string> {
  const router = mappingAt(file, 'router_settings');
  const library = mappingAt(file, 'litellm_settings');
  const aliases = new Map<string, string>();
  for (const given of [
    mappingAt(router, 'model_group_alias'),
    mappingAt(library, 'model_alias_map'),
  ]) {
    for (const [alias, value] of Object.entries(given)) {
      const target = textOf(isExactMapping(value) ? value['model'] : value) ?? '';
      if (!isServedName(alias)) notes.warn('an alias is left out: its name is not valid here');
      else if (names.has(alias)) notes.warn(`alias '${alias}' is left out: a model has that name`);
      else if (!names.has(target))
        notes.warn(`alias '${alias}' is left out: its model is not imported`);
      else aliases.set(alias, target);
    }
  }
  return aliases;
}

/** The key that clients of LiteLLM may be using; null if there is none that can be imported. */
export function readMasterKey(file: ExactMapping, notes: Notes): Draft['key'] {
  const text = textOf(mappingAt(file, 'general_settings')['master_key']) ?? '';
  if (text === '') return null;
  const name = 'litellm-master';
  const variable = environmentName(text);
  if (variable !== null) return { name, secret: notes.variable(variable) };
  if (!isClientKey(text)) {
    notes.warn(
      `key '${name}' is written without its secret, which is too weak for a key here: 'sluice key create --user admin@localhost --name ${name}' makes one`,
    );
    return { name, secret: null };
  }
  const secret = notes.secret('litellm', 'MASTER_KEY');
  notes.warn(`key '${name}': its secret is in LiteLLM's file; move it to ${secret.variable}`);
  return { name, secret };
}

/** Reports every setting besides the models that is not imported, in one line per part of the file. */
export function reportSettings(file: ExactMapping, notes: Notes): void {
  const carriedSettings = new Set(['model_group_alias', 'model_alias_map', 'master_key']);
  for (const [part, value] of Object.entries(file)) {
    if (part === 'model_list' || value === null) continue;
    const settings = isExactMapping(value) ? Object.keys(value) : [];
    const remainingSettings = settings.filter((setting) => !carriedSettings.has(setting));
    if (!isExactMapping(value)) notes.warn(`${part}: not imported`);
    else if (remainingSettings.length > 0)
      notes.warn(`${part}: not imported: ${remainingSettings.join(', ')}`);
  }
  notes.warn(
    "virtual keys, users, teams and budgets are in LiteLLM's database and are not imported",
  );
}

/** Whether the file may use it as the secret of a key. */
function isClientKey(secret: string): boolean {
  try {
    parseEntry(kinds.key, { name: 'any', user: 'any@example.com', secret });
    return true;
  } catch {
    return false;
  }
}
