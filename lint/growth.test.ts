import { describe, expect, test } from 'vitest';
import { growthOf } from './growth.ts';

const growing: readonly RegExp[] = [
  /^\S+@\S+\.\S+$/,
  /^data:([^;,]*)[^,]*;base64,/i,
  /\s+$/,
  /0+$/m,
  /[:(].*$/s,
  /x*y/,
  /a.*b.*c/,
  /(?=a*b)c/,
  /(\w+)\s*=\s*\w*$/,
  /^(.*?)\+fault\(([^)]*)\)$/,
  /^[a-z]{1,500}[a-z]{1,500};/,
  /(?:a|b)*c/,
  /^(a*)*b/,
  /^(a|a)*b/,
  /^(a|aa)*b/,
  /^(a+b?)*$/,
  /^(?:\s|[ \t])*x/,
  /^(?<word>\w+ ?)*$/,
  /^(\w+ ?)+$/u,
  /(a+)\1/,
  /(?<=a*b)c/,
];

const linear: readonly RegExp[] = [
  /\s+/g,
  /^\s+/,
  /^data:/i,
  /^[A-Za-z0-9+/]+={0,2}$/,
  /\/Count\s+(\d{1,6})\b/g,
  /^ *\d+: [0-9A-F]+:/m,
  /:\w*$/,
  /^sqlite:(.*)$/s,
  /^(a|ab)*c$/,
  /^"(?:[^"\\]|\\.)*"$/,
  /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/,
  /(?<![a-z0-9])sk-[\x21-\x7e]{16,}/gi,
  /(?:ab){2,4}$/,
  /[^\x20-\x7e]/g,
  /^(?:\/(?:v1beta|v1|api\/v3))+(?=\/(?:v1beta|v1|api\/v3)(?:\/|$))/,
  /\$\$\{|\$\{([^}]*)(\}?)/g,
  /[\p{C}\p{Zl}]+/gu,
];

describe('the growth of an expression', () => {
  test.each(growing)('%s takes more than its text is long', ({ source, flags }) => {
    expect(growthOf(source, flags)).not.toBeNull();
  });

  test.each(linear)('%s takes as long as its text', ({ source, flags }) => {
    expect(growthOf(source, flags)).toBeNull();
  });
});
