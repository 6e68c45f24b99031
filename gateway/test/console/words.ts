import type { Page } from 'playwright-core';

interface Texts {
  readonly [name: string]: string | Texts;
}

/** The same texts with words that are more than a third longer, as other languages have them. */
export function longer(texts: Texts): Texts {
  return Object.fromEntries(
    Object.entries(texts).map(([name, text]) => [
      name,
      typeof text === 'string' ? longerText(text) : longer(text),
    ]),
  );
}

function longerText(text: string): string {
  return text
    .split(/(\{\{\w+\}\})/)
    .map((part, at) =>
      at % 2 === 1
        ? part
        : part.replace(/\p{L}+/gu, (word) => word + 'e'.repeat(Math.ceil(word.length * 0.4))),
    )
    .join('');
}

/** Labels that are cut, run out of the page or out of what holds them. What can be scrolled to is not cut. */
export function cutLabels(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const found = [];
    const edgesOf = (label) => {
      const edges = [Infinity, -Infinity];
      const walker = document.createTreeWalker(label, NodeFilter.SHOW_TEXT);
      for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
        if (node.parentElement.closest('.hidden') !== null || node.data.trim() === '') continue;
        const range = document.createRange();
        range.selectNode(node);
        const { left, right, width } = range.getBoundingClientRect();
        if (width <= 1) continue;
        edges[0] = Math.min(edges[0], left);
        edges[1] = Math.max(edges[1], right);
      }
      return edges;
    };
    const labels = document.querySelectorAll(
      'button, a, label, legend, summary, th, dt, h1, h2, h3, small, .hint, .title, [role=tab]');
    for (const label of labels) {
      // Data may be long, and is cut in tables on purpose.
      if (label.closest('td, .hidden, tbody, svg') !== null || !label.checkVisibility()) continue;
      const text = (label.textContent ?? '').trim();
      if (text === '') continue;
      const [left, right] = edgesOf(label);
      if (left >= right) continue;
      const say = (why) => found.push(why + ': ' + label.tagName + ' ' + text.slice(0, 60));
      const style = getComputedStyle(label);
      const { overflowX } = style;
      if (overflowX === 'hidden' && label.scrollWidth > label.clientWidth + 1) say('cut');
      const isFixed = style.display !== 'inline' && label.scrollHeight > label.clientHeight + 2;
      if (isFixed && label.matches('button, .segments a, .segments button')) say('too high');
      for (let holder = label.parentElement; holder !== null; holder = holder.parentElement) {
        const { overflowX: over, clipPath } = getComputedStyle(holder);
        // Only heard, or reached by scrolling.
        if (clipPath !== 'none' || over === 'auto' || over === 'scroll') break;
        const box = holder.getBoundingClientRect();
        const isOut = right > box.right + 1 || left < box.left - 1;
        if (isOut && (over === 'hidden' || over === 'clip')) {
          say('cut by what holds it');
          break;
        }
        if (holder === document.body && (right > innerWidth + 1 || left < -1)) say('off the page');
      }
    }
    return found;
  })()`);
}

/** Every text of the page that somebody sees or hears, but for code. */
export function textsOf(page: Page): Promise<string[]> {
  return page.evaluate(`(() => {
    const texts = [];
    const skipped = 'script, style, code, pre, [lang]:not(html)';
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const holder = node.parentElement;
      if (holder === null || holder.closest(skipped) !== null) continue;
      // A name that may be broken is one text.
      if (node.previousSibling?.nodeName === 'WBR') continue;
      let text = node.data;
      for (let next = node.nextSibling; next?.nodeName === 'WBR'; next = next.nextSibling?.nextSibling) {
        text += next.nextSibling?.data ?? '';
      }
      if (holder.checkVisibility() || holder.closest('option, .hidden') !== null) texts.push(text);
    }
    for (const name of ['aria-label', 'title', 'placeholder', 'alt']) {
      for (const element of document.querySelectorAll('[' + name + ']')) {
        if (element.closest(skipped) === null) texts.push(element.getAttribute(name) ?? '');
      }
    }
    return texts;
  })()`);
}

/** What makes a page wider than the window. */
export function widestOf(page: Page): Promise<string> {
  return page.evaluate(`(() => {
    const isScrolled = (element) => {
      const isFree = getComputedStyle(element).position === 'absolute';
      const holder = isFree ? element.offsetParent : element.parentElement;
      if (holder === null || holder === document.body) return false;
      return getComputedStyle(holder).overflowX !== 'visible' || isScrolled(holder);
    };
    return [...document.querySelectorAll('body *')]
      .filter((element) => element.getBoundingClientRect().right > innerWidth + 1)
      .filter((element) => !isScrolled(element))
      
      .map(({ tagName, className, textContent }) =>
        tagName + '.' + (className.baseVal ?? className) + ' ' + (textContent ?? '').slice(0, 30))
      .slice(0, 3)
      .join(' | ');
  })()`);
}
