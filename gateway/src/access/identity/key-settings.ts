import type { DeclaredKey } from '#config/index.ts';

/** What a key's row has in one text. */
export type KeyTextSettings = Pick<DeclaredKey, 'models' | 'ips' | 'conversion' | 'capOutput'>;

/** Rows that were written before a setting existed lack it. */
type WrittenSettings = Omit<KeyTextSettings, 'capOutput'> & Partial<KeyTextSettings>;

export function readKeySettings(text: string): KeyTextSettings {
  const { models, ips, conversion, capOutput = true } = JSON.parse(text) as WrittenSettings;
  return { models, ips, conversion, capOutput };
}

/** In a fixed order and without what is usual, so that equal settings are equal text. */
export function writeKeySettings({ models, ips, conversion, capOutput }: KeyTextSettings): string {
  const written: WrittenSettings = { models, ips, conversion, ...(!capOutput && { capOutput }) };
  return JSON.stringify(written);
}
