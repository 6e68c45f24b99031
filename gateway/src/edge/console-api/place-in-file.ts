import type { Config } from '#config/index.ts';
import type { PlaceInFile } from './writes.ts';

/** @param file as it is in force */
export const createPlaceInFile =
  (file: () => Pick<Config, 'file' | 'declared'>): PlaceInFile =>
  ({ section, identity }, name) => {
    const { file: path, declared } = file();
    const entries: object = declared?.[section] ?? [];
    if (path === null) return null;
    // Aliases are a mapping.
    if (!Array.isArray(entries)) {
      return Object.hasOwn(entries, name) ? { file: path, path: `${section}.${name}` } : null;
    }
    const list = entries as readonly Readonly<Record<string, unknown>>[];
    const index = list.findIndex((entry) => entry[identity] === name);
    return index < 0 ? null : { file: path, path: `${section}[${index}]` };
  };
