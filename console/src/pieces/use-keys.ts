import { useEffect } from 'react';

/** Whether a key was neither typed into a field nor pressed together with another. */
export function isPlain({ target, ctrlKey, metaKey, altKey }: KeyboardEvent): boolean {
  const isField =
    target instanceof HTMLInputElement ||
    target instanceof HTMLTextAreaElement ||
    target instanceof HTMLSelectElement;
  // A field of a dialog that has just closed keeps the focus until the next frame.
  const isTyping = isField && target.checkVisibility();
  return !isTyping && !ctrlKey && !metaKey && !altKey;
}

/** Keys of a page; none while something is typed, or a dialog or menu is open. */
export function useKeys(keys: Readonly<Record<string, () => unknown>>): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      const { target, key } = event;
      if (!isPlain(event)) return;
      if (document.querySelector('dialog[open]') !== null) return;
      if (target instanceof Element && target.closest('[role="menu"]') !== null) return;
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
