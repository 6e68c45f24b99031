import { isExactMapping } from '../../price-lists/index.ts';
import type { Draft, DraftModel } from '../draft.ts';
import type { Notes } from '../notes.ts';
import { toChannels } from './channels.ts';
import { readDeployment } from './deployment.ts';
import { readModel } from './models.ts';
import { readAliases, readMasterKey, reportSettings } from './settings.ts';
import { parseExactYaml } from './values.ts';
import { vendorVariables } from './vendors.ts';

/**
 * Reads the `config.yaml` of a LiteLLM proxy.
 * @throws Error with a message if the text is not one. The message never contains the text of the file.
 */
export function readLitellmConfig(text: string, notes: Notes): Draft {
  const file = parseExactYaml(text);
  const list = isExactMapping(file) ? file['model_list'] : null;
  if (!isExactMapping(file) || !Array.isArray(list)) {
    throw new Error('no model_list found: is it the config.yaml of LiteLLM?');
  }
  // A key for another address must not use the vendor's variable, which may be set in the environment.
  notes.reserve(vendorVariables);
  notes.reserve(text.matchAll(/os\.environ\/(\w+)/g).map(([, name = '']) => name));
  const models = new Map<string, DraftModel>();
  const deployments = list.flatMap((entry: unknown, index) => {
    if (!isExactMapping(entry)) return [];
    const deployment = readDeployment(entry, index, notes);
    if (deployment === null) return [];
    const readEntry = readModel(entry);
    if (deployment.pattern === undefined && readEntry !== null && !models.has(deployment.name))
      models.set(deployment.name, readEntry);
    return [deployment];
  });
  const channels = toChannels(deployments, notes);
  reportSettings(file, notes);
  const names = new Set(deployments.flatMap(({ name, pattern }) => (pattern ? [] : [name])));
  const patternAliases = deployments
    .flatMap(({ pattern }) => [...(pattern?.aliases ?? [])])
    .filter(([alias]) => !names.has(alias));
  return {
    channels,
    models,
    aliases: new Map([...patternAliases, ...readAliases(file, names, notes)]),
    key: readMasterKey(file, notes),
  };
}
