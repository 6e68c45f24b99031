import i18next from 'i18next';
import { useSyncExternalStore } from 'react';
import { en } from './en.ts';

/** The texts of a language: the same names as English has. */
export type Words = Texts<typeof en>;
type Texts<Value> = Value extends string
  ? string
  : { readonly [Key in keyof Value]: Texts<Value[Key]> };

/** Every name of a text, such as `requests.columns.time`. */
type Names<Value, Prefix extends string = ''> = {
  [Key in keyof Value & string]: Value[Key] extends string
    ? `${Prefix}${Key}`
    : Names<Value[Key], `${Prefix}${Key}.`>;
}[keyof Value & string];
type Plural<Name> = Name extends `${infer Start}_one` ? Start : never;
export type TextName = Names<typeof en> | Plural<Names<typeof en>>;

export const languages = { en: 'English', 'zh-CN': '中文' } as const;
export type Language = keyof typeof languages;

export const isLanguage = (value: unknown): value is Language =>
  typeof value === 'string' && Object.hasOwn(languages, value);

const storedLanguage = 'sluice-language';

/** Must end before anything is shown. */
export async function startWords(): Promise<void> {
  await i18next.init({
    lng: 'en',
    fallbackLng: 'en',
    resources: { en: { translation: en } },
    // React escapes what it shows.
    interpolation: { escapeValue: false },
  });
  const stored = localStorage.getItem(storedLanguage);
  const wanted = stored ?? (navigator.language.startsWith('zh') ? 'zh-CN' : 'en');
  await setLanguage(wanted === 'zh-CN' ? 'zh-CN' : 'en');
}

export async function setLanguage(language: Language): Promise<void> {
  if (language === 'zh-CN' && !i18next.hasResourceBundle(language, 'translation')) {
    const { zh } = await import('./zh.ts');
    i18next.addResourceBundle(language, 'translation', zh);
  }
  document.documentElement.lang = language;
  localStorage.setItem(storedLanguage, language);
  await i18next.changeLanguage(language);
}

/** The language on the page. */
export function useLanguage(): Language {
  return useSyncExternalStore(subscribe, () => i18next.language as Language);
}

/** A text in the language of the page. */
export type Say = (name: TextName, values?: Readonly<Record<string, string | number>>) => string;

/** Renders again when the language changes. */
export function useWords(): Say {
  useLanguage();
  return say;
}

export const say: Say = (name, values) => i18next.t(name, { ...values });

function subscribe(listener: () => void): () => void {
  i18next.on('languageChanged', listener);
  return () => i18next.off('languageChanged', listener);
}
