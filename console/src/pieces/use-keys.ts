import { useEffect } from 'react';

/** Keys of a page; none while something is typed or a dialog is open. */
export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target, key } = event;
      const isTyping =
        target instanceof HTMLInputElement ||
        target instanceof HTMLTextAreaElement ||
        target instanceof HTMLSelectElement;
      if (isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      if (document.querySelector('dialog[open]') !== null) return;
      // A link or button that has the focus acts by itself.
      if (key === 'Enter' && target instanceof HTMLElement && target.closest('a, button') !== null)
        return;
      const act = Object.hasOwn(keys, key) ? keys[key] : undefined;
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', press);
    return () => document.removeEventListener('keydown', press);
  });
}
